#pragma once
// What convolutions and transposed ones share: their operands, and the bias.
#include <vector>

#include "onnx/call.h"

namespace inlay::onnx {

/// The axes behind the batch and the channels.
std::vector<Dim> spatial(Call& c, ValueId x);

std::vector<Dim> joined(std::vector<Dim> first, const std::vector<Dim>& second);
std::vector<Dim> ones(std::size_t count);

/// Data [batch, channels, spatial] and weights of as many axes, in groups. Errors: invalid-file.
void check_convolution(Call& c, std::size_t weights = 1);

/// y with input `input`, a number for each channel, if the node has it.
ValueId with_bias(Call& c, ValueId y, std::size_t input);

}  // namespace inlay::onnx
