#pragma once
// What several families make of reductions: each in a dtype that is exact enough, over axes that are counted from 0.
#include <vector>

#include "ir/compose_reduce.h"
#include "onnx/call.h"

namespace inlay::onnx {

/// The dtype that sums and functions of `dtype` are computed in: f32 for half precision, else the same.
DType computed_in(DType dtype);
/// The same, and f64 for integers, of which a function is no integer.
DType real_computed_in(DType dtype);
/// The same, and f32 for integers: for places and waves, whose weights are no integers.
DType float_computed_in(DType dtype);

/// The greatest (least) number of the dtype, that of floats infinite: what a min (max) of nothing is.
Literal extreme_literal(DType dtype, bool is_greatest);

/// `first` ... rank - 1.
std::vector<int> axes_from(int first, int rank);

/// `fold` over `axes`, ascending, in the dtype of x. Over no axes it is x itself.
ValueId folded(Call& c, Fold fold, ValueId x, const std::vector<int>& axes, Keep keep);
/// The same of a max or a min; of no elements it is what extreme_literal says. Along an axis that may have none stands
/// one more element, which changes nothing: the rewrites leave it out (rewrite/identity_parts.h).
ValueId extreme_of(Call& c, Fold fold, ValueId x, const std::vector<int>& axes, Keep keep);
/// The sum divided by the number of elements; that of integers towards 0.
ValueId mean_of(Call& c, ValueId x, const std::vector<int>& axes, Keep keep);

/// x / y of integers, towards 0. A quotient of sizes that is negative only where one of them is 0 is rounded down:
/// frameworks mean (n - 1) / 2 + 1 as a convolution counts, of which there are none if n is 0.
ValueId integer_quotient(Call& c, ValueId x, ValueId y);

/// Of logits, along all of `axes` at once, in the dtype of x, which is a float.
ValueId softmax_of(Call& c, ValueId x, const std::vector<int>& axes);
ValueId log_softmax_of(Call& c, ValueId x, const std::vector<int>& axes);

}  // namespace inlay::onnx
