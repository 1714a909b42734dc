#include "backend/llvm/emit_exponentials.h"

#include <limits>

namespace inlay::llvm_backend {

using kernel::Statement;

namespace {

/// The smallest that is finite.
Literal minimum_number(DType dtype) {
  const double minimum =
      dtype == DType::f32 ? std::numeric_limits<float>::lowest() : std::numeric_limits<double>::lowest();
  return Literal::of_float(dtype, minimum);
}

/// What is -inf is far below the minimum, and so exp of its difference from that is 0.
Value* at_least_finite(FunctionEmitter& f, DType dtype, Value* x) {
  Value* minimum = splat(f, constant(f.b, minimum_number(dtype)), width_of(x));
  return select(f, emit_op(f, ScalarOp::lt_, dtype, {x, minimum}, nullptr), minimum, x);
}

/// exp(x - maximum), in the fold's dtype.
Value* exponential(FunctionEmitter& f, const Statement& fold, Value* x, Value* maximum) {
  const DType dtype = (&fold)[1].dtype;
  const llvm::IRBuilder<>::FastMathFlagGuard guard(f.b);
  f.b.clearFastMathFlags();
  Value* difference = emit_op(f, ScalarOp::sub_, dtype, {x, at_least_finite(f, dtype, maximum)}, nullptr);
  return emit_cast(f, emit_op(f, ScalarOp::exp_, dtype, {difference}, nullptr), dtype, fold.dtype);
}

}  // namespace

Value* at_maximum(FunctionEmitter& f, const Statement& fold, const SumOfExponentials& both, Value* met) {
  return emit_op(f, ScalarOp::mul_, fold.dtype, {both.sum, exponential(f, fold, both.maximum, met)}, nullptr);
}

/// All lanes have one maximum, which is seldom less than the next ones: then what was summed is less of a
/// greater one. So a point takes one exponential.
SumOfExponentials add_exponentials(FunctionEmitter& f, const Statement& fold, const SumOfExponentials& before, Value* x,
                                   Value* active) {
  const Statement& other = (&fold)[1];
  const int width = width_of(x);
  Value* nothing = splat(f, constant(f.b, identity_of(Combine::max, other.dtype)), width);
  if (active) x = select(f, active, x, nothing);
  Value* is_less =
      emit_op(f, ScalarOp::le_, other.dtype, {x, at_least_finite(f, other.dtype, before.maximum)}, nullptr);
  const Branch branch = open_if(f.b, any_lane(f, f.b.CreateNot(is_less)));
  Value* both = emit_combine(f, Combine::max, other.dtype, before.maximum, x);
  Value* maximum = splat(f, reduce_lanes(f, Combine::max, other.dtype, both), width);
  const std::vector<Value*> now =
      close_if(f.b, branch, {at_maximum(f, fold, before, maximum), maximum}, {before.sum, before.maximum});
  return {.sum = emit_op(f, ScalarOp::add_, fold.dtype, {now[0], exponential(f, fold, x, now[1])}, nullptr),
          .maximum = now[1]};
}

SumOfExponentials joined_lanes(FunctionEmitter& f, const Statement& fold, const SumOfExponentials& lanes) {
  const Statement& other = (&fold)[1];
  Value* maximum = reduce_lanes(f, other.combine(), other.dtype, lanes.maximum);
  Value* met = at_maximum(f, fold, lanes, splat(f, maximum, width_of(lanes.sum)));
  return {.sum = reduce_lanes(f, fold.combine(), fold.dtype, met), .maximum = maximum};
}

}  // namespace inlay::llvm_backend
