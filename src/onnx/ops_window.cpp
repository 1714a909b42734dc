// Convolutions: windows of the data times weights, summed.
#include "ir/compose_shape.h"
#include "onnx/convolution.h"
#include "onnx/convolve.h"
#include "onnx/importer.h"
#include "onnx/integer_convolution.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

void conv(Call& c) {
  check_convolution(c);
  const DType dtype = c.dtype(0), wide = computed_in(dtype);
  if (const auto y = dequantised_convolution(c)) return c.out(with_bias(c, *y, 2));
  const Convolution conv = convolution_of(c, c.b.cast(c.in(0), wide), c.b.cast(c.in(1), wide));
  c.out(c.b.cast(with_bias(c, convolved(c, conv), 2), dtype));
}

/// Each channel by itself over what came before: the elements of a state, or zeros.
void causal_conv(Call& c) {
  const std::vector<Dim> dims = c.dims(0), weights = c.dims(1);
  if (dims.size() != 3 || weights.size() != 3) throw c.wrong("its data or its weights have not 3 axes");
  const DType dtype = c.dtype(0), wide = computed_in(dtype);
  const Dim kept = weights[2] - 1;
  ValueId x = c.in(0);
  if (const auto past = c.maybe(3)) {
    x = c.b.concat({*past, x}, 2);
  } else {
    x = c.b.concat({full(c.b, c.literal(dtype, 0), {dims[0], dims[1], kept}), x}, 2);
  }
  c.out(1, c.b.slice(x, {IndexItem::range(0, dims[0]), IndexItem::range(0, dims[1]),
                         IndexItem::range(dims[2], dims[2] + kept)}));
  if (!dims[1].is_constant() && !weights[0].is_constant())
    throw c.unsupported("a number of channels that is not known");
  Convolution conv{c.b.cast(x, wide), c.b.cast(c.in(1), wide), 1, {}, dims[0], 1, weights[0]};
  conv.groups = (weights[0].is_constant() ? weights[0] : dims[1]).constant();
  conv.windows = {
      {.size = dims[2] + kept, .kernel = weights[2], .before = 0, .after = 0, .behind = 0, .count = dims[2]}};
  ValueId y = with_bias(c, depthwise(c, conv), 2);
  const std::string activation = c.word("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = c.scalar(ScalarOp::mul_, {y, c.scalar(ScalarOp::sigmoid_, {y})});
  } else if (activation != "none") {
    throw c.wrong(str("`", activation, "` is no activation"));
  }
  c.out(c.b.cast(y, dtype));
}

constexpr OpRow kOps[] = {
    {"CausalConvWithState", causal_conv},
    {"Conv", conv},
    {"ConvInteger", conv_integer},
    {"QLinearConv", qlinear_conv},
};

}  // namespace

std::span<const OpRow> window_ops() { return kOps; }

}  // namespace inlay::onnx
