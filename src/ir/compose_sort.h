#pragma once
// What NumPy and PyTensor make of a sorted axis, out of the library ops that sort the last one.
#include "ir/builder.h"

namespace inlay {

/// At each point of the axes before `axis`, what `places` (i64, over those axes and one more) names along it; the axes
/// behind it stay whole.
ValueId take_at(GraphBuilder& b, ValueId x, ValueId places, int axis);

/// Row by row: along `axis`, what `places` (integers, of the shape of x but for that axis) names. Negative ones count
/// from the end. An axis of x or of the places whose size is declared as 1 stretches.
///
/// Errors: axis-out-of-range, wrong-rank, wrong-dtype, shape-mismatch; index-out-of-bounds when it runs.
/// Source: numpy.take_along_axis.
ValueId take_along_axis(GraphBuilder& b, ValueId x, ValueId places_there, int64_t axis);

/// The `count` largest (or smallest) elements along `axis`, the most extreme first, and where they stand: i64.
///
/// Equals: by place. NaN counts as greater than all else, as in a sort: first of the largest, last of the smallest.
/// A count of 0 gives nothing. Errors: axis-out-of-range, slice-out-of-range where there are fewer elements.
/// Source: PyTensor's TopKOp, which gives them in any order; the order is that of jax.lax.top_k.
enum class Extreme : uint8_t { largest, smallest };
struct ValuesAndPlaces {
  ValueId values, places;
};
ValuesAndPlaces top_k(GraphBuilder& b, ValueId x, const Dim& count, int64_t axis, Extreme extreme);

}  // namespace inlay
