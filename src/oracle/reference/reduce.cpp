#include "oracle/reference/reduce.h"

#include <algorithm>

#include "oracle/reference/elementwise.h"
#include "oracle/reference/moves.h"
#include "oracle/reference/region.h"

namespace inlay::reference {
namespace {

Tensor number(const std::vector<int64_t>& dims, const Literal& literal) {
  Tensor out = Tensor::zeros(literal.dtype, dims);
  for (int64_t i = 0; i < out.num_elements(); ++i) literal.store(out.element(i));
  return out;
}

Tensor of(ScalarOp op, const std::vector<Tensor>& operands) { return apply_scalar(op, operands); }

/// Left to right in row-major order, in the dtype of x.
Tensor combined(Combine combine, const Tensor& x, std::span<const int> axes, std::vector<int64_t> dims) {
  Tensor out = number(dims, identity_of(combine, x.dtype));
  int64_t next = 0;
  for_each_point(x.dims, [&](std::span<const int64_t> point) {
    int64_t to = 0;
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (!std::ranges::binary_search(axes, axis)) to = to * x.dims[axis] + point[axis];
    }
    combine_element(combine, out, to, x, next++);
  });
  return out;
}

}  // namespace

std::vector<Tensor> reduce(Fold fold, const std::vector<Tensor>& operands, std::span<const int> axes,
                           const std::vector<int64_t>& dims, DType first) {
  const Tensor& x = operands.back();
  const auto reduced = [&](Combine combine, const Tensor& of_x) { return combined(combine, of_x, axes, dims); };
  const auto spread = [&](const Tensor& reduced) {  // at each point of x
    std::vector<int64_t> kept = x.dims;
    for (int axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
    return broadcast({reduced.dtype, kept, reduced.data}, x.dims);
  };
  const auto less = [&](const Tensor& reduced) { return of(ScalarOp::sub_, {x, spread(reduced)}); };
  switch (fold) {
    case Fold::none: break;
    case Fold::add: return {reduced(Combine::add, x)};
    case Fold::mul: return {reduced(Combine::mul, x)};
    case Fold::max: return {reduced(Combine::max, x)};
    case Fold::min: return {reduced(Combine::min, x)};
    case Fold::and_: return {reduced(Combine::and_, x)};
    case Fold::or_: return {reduced(Combine::or_, x)};
    case Fold::xor_: return {reduced(Combine::xor_, x)};
    case Fold::argmax:
    case Fold::argmin: {
      const Tensor extreme = reduced(fold == Fold::argmax ? Combine::max : Combine::min, x);
      Tensor found = of(ScalarOp::eq_, {x, spread(extreme)});
      found = of(ScalarOp::or_, {found, of(ScalarOp::ne_, {x, x})});
      const Tensor never = number(x.dims, identity_of(Combine::min, DType::i64));
      return {reduced(Combine::min, of(ScalarOp::select_, {found, operands[0], never})), extreme};
    }
    case Fold::log_sum_exp: {
      const Tensor maximum = reduced(Combine::max, x);
      return {reduced(Combine::add, cast(of(ScalarOp::exp_, {less(maximum)}), first)), maximum};
    }
    case Fold::softmax_sum: {
      const Tensor maximum = reduced(Combine::max, x);
      const Tensor weights = of(ScalarOp::exp_, {less(maximum)});
      return {reduced(Combine::add, of(ScalarOp::mul_, {weights, operands[0]})), reduced(Combine::add, weights),
              maximum};
    }
    case Fold::moments: {
      const Tensor count = reduced(Combine::add, number(x.dims, Literal::of(x.dtype, 1)));
      const Tensor mean = of(ScalarOp::div_, {reduced(Combine::add, x), count});
      return {reduced(Combine::add, of(ScalarOp::square_, {less(mean)}))};
    }
  }
  return {};
}

Tensor cumulative(Combine combine, const Tensor& x, int axis) {
  Tensor out = x;
  int64_t stride = 1;
  for (int inner = axis + 1; inner < x.rank(); ++inner) stride *= x.dims[inner];
  int64_t next = 0;
  for_each_point(x.dims, [&](std::span<const int64_t> point) {
    const int64_t at = next++;
    if (point[axis] == 0) return;
    combine_element(Combine::set, out, at, out, at - stride);
    combine_element(combine, out, at, x, at);
  });
  return out;
}

}  // namespace inlay::reference
