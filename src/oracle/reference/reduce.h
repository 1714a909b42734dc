#pragma once
// Many elements to one, along axes.
#include <span>
#include <vector>

#include "ops/fold.h"
#include "oracle/reference/tensor.h"

namespace inlay::reference {

/// The stored states, by the definition of the row, in as many passes as it takes: each left to right in row-major
/// order. `dims`: of the results; `first`: the dtype of the first.
std::vector<Tensor> reduce(Fold fold, const std::vector<Tensor>& operands, std::span<const int> axes,
                           const std::vector<int64_t>& dims, DType first);

/// Each element is the one before it along the axis, combined with x's.
Tensor cumulative(Combine combine, const Tensor& x, int axis);

}  // namespace inlay::reference
