#include "runtime/type_of.h"

#include <vector>

#include "support/str.h"

namespace inlay::runtime {

DType dtype_of(const TensorSpec& spec) {
  const auto dtype = dtype_from_name(spec.dtype);
  INLAY_CHECK(dtype, spec.name, ": no dtype is called ", spec.dtype);
  return *dtype;
}

std::string type_text(std::string_view dtype, std::span<const std::string> dims) {
  return dims.empty() ? std::string(dtype) : str(dtype, "[", join(dims, ", "), "]");
}

std::string type_text(std::string_view dtype, std::span<const int64_t> dims) {
  std::vector<std::string> texts;
  for (int64_t dim : dims) texts.push_back(str(dim));
  return type_text(dtype, texts);
}

Error wrong_dim(std::string_view name, std::size_t axis, int64_t is, int64_t must_be, std::string_view dim_text) {
  const std::string size = dim_text.empty() ? str(must_be) : str(dim_text, " = ", must_be);
  return {ErrorCode::shape_mismatch, {}, str(name, ": dim ", axis, " is ", is, ", but must be ", size)};
}

}  // namespace inlay::runtime
