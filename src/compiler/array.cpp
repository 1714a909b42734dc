#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "inlay/buffer.h"
#include "inlay/error.h"
#include "ir/positions.h"

namespace inlay {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t bytes_of(DType dtype, std::span<const int64_t> dims) {
  int64_t bytes = size_bytes(dtype);
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) throw Error(ErrorCode::shape_mismatch, {}, str("an array cannot have a dim of ", dim));
    empty = empty || dim == 0;
  }
  for (int64_t dim : dims) {
    if (!empty && __builtin_mul_overflow(bytes, dim, &bytes)) {
      throw Error(
          ErrorCode::size_overflow, {},
          str("an array of [", join(dims, ", "), "] ", dtype_name(dtype), " has more bytes than 63 bits count"));
    }
  }
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

}  // namespace

Array::Array(DType dtype, std::vector<int64_t> dims) : dtype_(dtype), dims_(std::move(dims)) {
  const std::size_t bytes = bytes_of(dtype_, dims_);
  // A whole number of cache lines, at least one: an empty array has an address too.
  const std::size_t lines = bytes / kAlignment + 1;
  data_.reset(std::aligned_alloc(kAlignment, lines * kAlignment));
  if (!data_) throw Error(ErrorCode::out_of_memory, {}, str("no memory for an array of ", bytes, " bytes"));
  std::memset(data_.get(), 0, bytes);
}

Array::Array(const Array& other) : Array(other.dtype_, other.dims_) {
  if (other.data_) std::memcpy(data_.get(), other.data_.get(), bytes_of(dtype_, dims_));
}

Array::Array(Array&& other) noexcept
    : dtype_(other.dtype_), dims_(std::exchange(other.dims_, {0})), data_(std::move(other.data_)) {}

Array& Array::operator=(Array other) noexcept {
  dtype_ = other.dtype_;
  dims_ = std::move(other.dims_);
  data_ = std::move(other.data_);
  return *this;
}

int64_t Array::num_elements() const { return inlay::num_elements(dims_); }

void Array::require(DType dtype) const {
  if (dtype == dtype_) return;
  throw Error(ErrorCode::wrong_dtype, {}, str("the array is ", dtype_name(dtype_), ", not ", dtype_name(dtype)));
}

void Array::Free::operator()(void* memory) const noexcept { std::free(memory); }

}  // namespace inlay
