#pragma once
// A convolution as windows of the data times weights: as products of matrices, by rows, or place by place.
#include "onnx/windows.h"

namespace inlay::onnx {

/// The operands of a convolution: of one dtype, which sums are computed in, or u8 beside weights of i8, of which they
/// are i32.
struct Convolution {
  ValueId x, weights;  // [batch, channels, spatial], [out, channels / groups, kernel]
  int64_t groups = 1;
  Windows windows;

  Dim batch, channels, out;  // channels: of one group
  /// What windows read beyond the data, a number; 0 where it is left out.
  std::optional<ValueId> room = {};
  bool is_of_bytes = false;
};

/// By the attributes of the node. Errors: invalid-file, slice-out-of-range.
Convolution convolution_of(Call& c, ValueId x, ValueId weights, std::optional<ValueId> room = {});

/// One channel in each group, and zeros beyond the data. No window is stored.
ValueId depthwise(Call& c, const Convolution& conv);

/// The sums: [batch, out, counts of the windows].
ValueId convolved(Call& c, const Convolution& conv);

}  // namespace inlay::onnx
