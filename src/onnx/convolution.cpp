#include "onnx/convolution.h"

namespace inlay::onnx {

std::vector<Dim> spatial(Call& c, ValueId x) {
  const std::vector<Dim> dims = c.type(x).dims;
  return {dims.begin() + 2, dims.end()};
}

std::vector<Dim> joined(std::vector<Dim> first, const std::vector<Dim>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Dim> ones(std::size_t count) { return std::vector<Dim>(count, Dim(1)); }

void check_convolution(Call& c, std::size_t weights) {
  const int rank = c.rank(0);
  if (rank < 3) throw c.wrong(str("its data has ", rank, " axes: a batch, channels, and at least one more are needed"));
  if (c.rank(weights) != rank) throw c.wrong(str("weights of ", c.rank(weights), " axes for data of ", rank));
  if (c.integer("group", 1) < 1) throw c.wrong("less than one group");
  const std::vector<int64_t> kernel = c.integers("kernel_shape").value_or(std::vector<int64_t>());
  if (kernel.empty()) return;
  const std::vector<Dim> own = spatial(c, c.in(weights));
  if (kernel.size() != own.size()) throw c.wrong(str("a kernel_shape of ", kernel.size(), " axes for ", own.size()));
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    const auto message = [&] {
      return str(c.node.op, ": axis ", axis, " of kernel_shape is {1}, and the weights have {0} places");
    };
    c.b.require(own[axis], kernel[axis], message, {{"weights", c.in(weights)}});
  }
}

ValueId with_bias(Call& c, ValueId y, std::size_t input) {
  const auto bias = c.maybe(input);
  if (!bias) return y;
  const std::vector<Dim> dims = c.type(y).dims;
  const ValueId wide = c.b.cast(*bias, c.type(y).dtype);
  return c.scalar(ScalarOp::add_, {y, c.b.reshape(wide, joined({dims[1]}, ones(dims.size() - 2)))});
}

}  // namespace inlay::onnx
