#include "oracle/reference/tensor.h"

#include <algorithm>

namespace inlay::reference {

int64_t product(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

Tensor Tensor::zeros(DType dtype, std::vector<int64_t> dims) {
  Tensor out{dtype, std::move(dims), {}};
  int64_t num_bytes = std::ranges::count(out.dims, 0) > 0 ? 0 : size_bytes(dtype);
  for (int64_t dim : out.dims) {
    if (num_bytes != 0 && __builtin_mul_overflow(num_bytes, dim, &num_bytes)) {
      throw Error(ErrorCode::size_overflow, {}, str(out.type_text(), ": its bytes do not fit in 64 bits"));
    }
  }
  out.data.resize(static_cast<std::size_t>(num_bytes));
  return out;
}

int64_t Tensor::num_elements() const { return product(dims); }

std::string Tensor::type_text() const {
  return dims.empty() ? std::string(dtype_name(dtype)) : str(dtype_name(dtype), "[", join(dims, ", "), "]");
}

}  // namespace inlay::reference
