#include "compare.h"

#include <cmath>

#include "ops/literal.h"

namespace inlay::tool {
namespace {

using reference::Tensor;

/// The largest finite magnitude, at least 1.
template <class T>
double scale_of(const Tensor& tensor) {
  double scale = 1;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double magnitude = std::fabs(static_cast<double>(tensor.get<T>(i)));
    if (std::isfinite(magnitude)) scale = std::max(scale, magnitude);
  }
  return scale;
}

template <class T>
bool close(T found, T wanted, double allowed) {
  if (std::isnan(wanted) || std::isnan(found)) return std::isnan(wanted) && std::isnan(found);
  if (found == wanted) return true;
  if (!std::isfinite(found) || !std::isfinite(wanted)) return false;
  return std::fabs(static_cast<double>(found) - static_cast<double>(wanted)) <= allowed;
}

template <class T>
int64_t first_difference(const Tensor& found, const Tensor& wanted, double relative) {
  const double allowed = relative * scale_of<T>(wanted);
  for (int64_t i = 0; i < wanted.num_elements(); ++i) {
    if (!close(found.get<T>(i), wanted.get<T>(i), allowed)) return i;
  }
  return -1;
}

int64_t first_different_bits(const Tensor& found, const Tensor& wanted) {
  const auto bytes = static_cast<std::size_t>(size_bytes(wanted.dtype));
  for (int64_t i = 0; i < wanted.num_elements(); ++i) {
    if (std::memcmp(found.element(i), wanted.element(i), bytes) != 0) return i;
  }
  return -1;
}

}  // namespace

std::string element_text(const Tensor& tensor, int64_t i) {
  const bool printable = tensor.dtype == DType::boolean || is_integer(tensor.dtype) || tensor.dtype == DType::f32 ||
                         tensor.dtype == DType::f64;
  if (printable) return Literal::load(tensor.dtype, tensor.element(i)).to_text();
  if (!is_complex(tensor.dtype)) return str("<", dtype_name(tensor.dtype), ">");
  const DType part = tensor.dtype == DType::c64 ? DType::f32 : DType::f64;
  return str("(", Literal::load(part, tensor.element(i)).to_text(), ", ",
             Literal::load(part, tensor.element(i) + size_bytes(part)).to_text(), ")");
}

std::string tensor_text(const Tensor& tensor, int64_t most_elements) {
  std::string out = tensor.type_text() + " ";
  if (!tensor.dims.empty()) out += "[";
  for (int64_t i = 0; i < std::min(most_elements, tensor.num_elements()); ++i)
    out += (i ? ", " : "") + element_text(tensor, i);
  if (tensor.num_elements() > most_elements) out += ", ...";
  return tensor.dims.empty() ? out : out + "]";
}

std::optional<std::string> difference(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance) {
  if (found.dtype != wanted.dtype || found.dims != wanted.dims) {
    return str("the type is ", found.type_text(), ", the reference says ", wanted.type_text());
  }
  const int64_t at = wanted.dtype == DType::f64   ? first_difference<double>(found, wanted, tolerance.f64)
                     : wanted.dtype == DType::f32 ? first_difference<float>(found, wanted, tolerance.f32)
                                                  : first_different_bits(found, wanted);
  if (at < 0) return std::nullopt;
  return str("element ", at, " is ", element_text(found, at), ", the reference says ", element_text(wanted, at));
}

}  // namespace inlay::tool
