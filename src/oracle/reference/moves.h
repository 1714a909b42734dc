#pragma once
// Elements that are brought elsewhere: each op makes a new array of the elements of its operands. `dims`: of the
// result.
#include <span>
#include <vector>

#include "oracle/reference/tensor.h"

namespace inlay::reference {

Tensor broadcast(const Tensor& x, std::vector<int64_t> dims);
Tensor transpose(const Tensor& x, std::span<const int> axes, std::vector<int64_t> dims);
Tensor flip(const Tensor& x, std::span<const int> axes);
/// Of two axes; the elements on it are the last axis of the result.
Tensor diagonal(const Tensor& x, std::span<const int> axes, std::vector<int64_t> dims);
Tensor concat(const std::vector<Tensor>& parts, int axis, std::vector<int64_t> dims);
/// Those of the `count` places where the mask holds.
Tensor compress(const Tensor& x, const Tensor& mask, int64_t count);

}  // namespace inlay::reference
