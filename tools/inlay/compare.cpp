#include "compare.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <ranges>

#include "ops/literal.h"

namespace inlay::tool {
namespace {

using reference::Tensor;

/// The largest finite magnitude, at least 1.
double scale_of(std::span<const double> numbers) {
  double scale = 1;
  for (double number : numbers) {
    if (std::isfinite(number)) scale = std::max(scale, std::fabs(number));
  }
  return scale;
}

bool close(double found, double wanted, double allowed) {
  if (std::isnan(wanted) || std::isnan(found)) return std::isnan(wanted) && std::isnan(found);
  if (found == wanted) return true;
  if (!std::isfinite(found) || !std::isfinite(wanted)) return false;
  return std::fabs(found - wanted) <= allowed;
}

bool has_nan(std::span<const double> parts) {
  return std::ranges::any_of(parts, [](double part) { return std::isnan(part); });
}

/// A complex number that is NaN in one part is NaN: which part, C leaves open.
int64_t first_difference(const Tensor& found, const Tensor& wanted, double relative) {
  const std::vector<double> f = numbers_of(found), w = numbers_of(wanted);
  const double allowed = relative * scale_of(w);
  const std::size_t parts = is_complex(wanted.dtype) ? 2 : 1;
  for (std::size_t i = 0; i < w.size(); i += parts) {
    const auto mine = std::span(f).subspan(i, parts), theirs = std::span(w).subspan(i, parts);
    if (has_nan(mine) && has_nan(theirs)) continue;
    for (std::size_t p = 0; p < parts; ++p) {
      if (!close(mine[p], theirs[p], allowed)) return static_cast<int64_t>(i / parts);
    }
  }
  return -1;
}

double tolerance_of(DType dtype, const Tolerance& tolerance) {
  switch (real_of(dtype)) {
    case DType::f64: return tolerance.f64;
    case DType::f32: return tolerance.f32;
    case DType::f16: return tolerance.f16;
    default: return tolerance.bf16;
  }
}

int64_t first_different_bits(const Tensor& found, const Tensor& wanted) {
  const auto bytes = static_cast<std::size_t>(size_bytes(wanted.dtype));
  for (int64_t i = 0; i < wanted.num_elements(); ++i) {
    if (std::memcmp(found.element(i), wanted.element(i), bytes) != 0) return i;
  }
  return -1;
}

/// Does element i have the same bits, or the same with another nan for each of its nans?
bool is_same_element(const Tensor& a, const Tensor& b, int64_t i) {
  const auto is_same = [&](auto x, auto y) {
    using Bytes = std::array<std::byte, sizeof x>;
    const bool is_same_bits = std::bit_cast<Bytes>(x) == std::bit_cast<Bytes>(y);
    return is_same_bits || (std::isnan(computed(x)) && std::isnan(computed(y)));
  };
  return visit_element_type(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T x = a.get<T>(i), y = b.get<T>(i);
    if constexpr (kIsComplex<T>)
      return is_same(x.real(), y.real()) && is_same(x.imag(), y.imag());
    else
      return is_same(x, y);
  });
}

}  // namespace

bool are_same_but_for_nan(const Tensor& a, const Tensor& b) {
  if (a == b) return true;
  if (a.dtype != b.dtype || a.dims != b.dims || !(is_float(a.dtype) || is_complex(a.dtype))) return false;
  const auto elements = std::views::iota(int64_t{0}, a.num_elements());
  return std::ranges::all_of(elements, [&](int64_t i) { return is_same_element(a, b, i); });
}

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> out;
  visit_element_type(tensor.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      if constexpr (kIsComplex<T>) {
        out.push_back(static_cast<double>(tensor.get<T>(i).real()));
        out.push_back(static_cast<double>(tensor.get<T>(i).imag()));
      } else {
        out.push_back(static_cast<double>(computed(tensor.get<T>(i))));
      }
    }
  });
  return out;
}

std::string element_text(const Tensor& tensor, int64_t i) {
  if (tensor.dtype == DType::opaque) return "<opaque>";
  return Literal::load(tensor.dtype, tensor.element(i)).to_text();
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
  const bool rounds = is_float(wanted.dtype) || is_complex(wanted.dtype);
  const int64_t at = rounds ? first_difference(found, wanted, tolerance_of(wanted.dtype, tolerance))
                            : first_different_bits(found, wanted);
  if (at < 0) return std::nullopt;
  return str("element ", at, " is ", element_text(found, at), ", the reference says ", element_text(wanted, at));
}

}  // namespace inlay::tool
