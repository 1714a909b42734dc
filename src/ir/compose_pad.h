#pragma once
// Room around an array.
#include "ir/builder.h"

namespace inlay {

enum class PadMode : uint8_t { constant, edge, reflect, symmetric, wrap };

/// x with before[i] elements before and after[i] behind those of axis i.
///
/// constant: `value`, which is 0-d and of the dtype of x. edge: the first and the last element. reflect: mirrored at
/// the edge element, symmetric: behind it; wrap: from the other end. All but constant may be wider than x, and fail
/// (index-out-of-bounds) where x has no element to take.
///
/// Errors: wrong-arity (a width for each axis), wrong-dtype; a negative width is slice-out-of-range.
/// Source: numpy.pad.
ValueId pad(GraphBuilder& b, ValueId x, const std::vector<Dim>& before, const std::vector<Dim>& after, PadMode mode,
            ValueId value);

}  // namespace inlay
