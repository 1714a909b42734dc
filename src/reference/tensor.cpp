#include "reference/tensor.h"

namespace inlay::reference {

int64_t product(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

Tensor Tensor::zeros(DType dtype, std::vector<int64_t> dims) {
  Tensor out{dtype, std::move(dims), {}};
  out.data.resize(static_cast<std::size_t>(out.num_elements() * size_bytes(dtype)));
  return out;
}

int64_t Tensor::num_elements() const { return product(dims); }

std::string Tensor::type_text() const {
  return dims.empty() ? std::string(dtype_name(dtype)) : str(dtype_name(dtype), "[", join(dims, ", "), "]");
}

}  // namespace inlay::reference
