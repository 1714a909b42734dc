#pragma once
// One scalar op, or a cast, over arrays of one shape.
#include <span>

#include "ops/scalar_op.h"
#include "oracle/reference/tensor.h"

namespace inlay::reference {

/// Operands of one shape, with dtypes that the op accepts.
Tensor apply_scalar(ScalarOp op, std::span<const Tensor> operands);

Tensor cast(const Tensor& x, DType dtype);

/// element `to` of `into` = combine(what is there, element `from` of `value`). Same dtypes.
void combine_element(Combine combine, Tensor& into, int64_t to, const Tensor& value, int64_t from);

}  // namespace inlay::reference
