#pragma once
#include <optional>

#include "onnx/call.h"

namespace inlay::onnx {

void conv_integer(Call& c);
void qlinear_conv(Call& c);

/// The sums of a Conv of floats that were made of bytes, as those of these times their scales; none where either
/// operand was not, where an i32 may not hold the sums, and where the scales are not one of the data and one of the
/// weights, or one for each channel of the result.
std::optional<ValueId> dequantised_convolution(Call& c);

}  // namespace inlay::onnx
