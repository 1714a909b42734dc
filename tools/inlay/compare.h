#pragma once
// Do two evaluators agree?
#include <optional>
#include <string>
#include <vector>

#include "oracle/reference/tensor.h"

namespace inlay::tool {

/// How far a float, or a part of a complex number, may be from the reference's, relative to the largest finite
/// magnitude in the array (at least 1). Integers and bools must be equal, NaN must stand where NaN stands.
///
/// Not zero, for two reasons: a sum may be taken in another order (lanes, blocks), and vector math differs from libm by
/// a unit or two in the last place, which a later subtraction makes larger.
struct Tolerance {
  double f64 = 1e-9;
  double f32 = 2e-4;
  double f16 = 5e-3;
  double bf16 = 4e-2;
};

/// All numbers of an array as doubles; a complex element is two. Not of opaque ones.
std::vector<double> numbers_of(const reference::Tensor& tensor);

/// What differs, or none: "element 3 is 1.5, the reference says 2.5".
std::optional<std::string> difference(const reference::Tensor& found, const reference::Tensor& wanted,
                                      const Tolerance& tolerance = {});

/// Are they the same bytes, where a nan may have another sign and other bits for each nan?
bool are_same_but_for_nan(const reference::Tensor& a, const reference::Tensor& b);

/// One element as text.
std::string element_text(const reference::Tensor& tensor, int64_t i);

/// `f64[2, 2] [1.0, 2.0, 3.0, 4.0]`, cut where it is long.
std::string tensor_text(const reference::Tensor& tensor, int64_t most_elements = 64);

}  // namespace inlay::tool
