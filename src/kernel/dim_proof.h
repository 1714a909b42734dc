#pragma once
// Proves properties of size expressions for all sizes.
//
// `Dim::lower_bound` gives up at the first negative term. Disjoint slices, strided regions and clamped bounds need a
// bit more: n - 2*floordiv(n + 1, 2) >= -1, max(n - 1, 0) >= n - 1. Every symbol is a size, so at least 0.
#include <span>

#include "ir/dim.h"

namespace inlay::kernel {

/// Is a >= b for all sizes at which each of `facts` is at least 0? (If a slice's length is n - 1, then n is at least 1.
/// Where a point exists, the extent of its axis minus 1 is such a fact too.) false: not for all, or not proved.
bool always_at_least(const Dim& a, const Dim& b, std::span<const Dim> facts = {});

/// Are [begin_a, end_a) and [begin_b, end_b) disjoint for all sizes? false: not for all, or not proved.
bool always_apart(const Dim& begin_a, const Dim& end_a, const Dim& begin_b, const Dim& end_b);

/// Is it 0 or 1 for all sizes?
bool is_zero_or_one(const Dim& size);

/// `step` is 0 or 1. If `left` equals `right`, is `size` at most n where `step` is 1, and at most 1 where it is 0?
/// (This holds for operands that may have length 1.)
bool is_at_most_or_one(const Dim& size, const Dim& n, const Dim& step, const Dim& left, const Dim& right);

/// Returns the size with `value` put for each of these factors of its terms.
Dim where(const Dim& size, std::span<const Dim> factors, int64_t value);

}  // namespace inlay::kernel
