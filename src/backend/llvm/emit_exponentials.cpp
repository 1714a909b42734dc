#include "backend/llvm/emit_exponentials.h"

#include <limits>

namespace inlay::llvm_backend {

using kernel::Statement;

namespace {

/// The least that is finite.
Literal least_number(DType dtype) {
  const double least =
      dtype == DType::f32 ? std::numeric_limits<float>::lowest() : std::numeric_limits<double>::lowest();
  return Literal::of_float(dtype, least);
}

/// What is -inf is far below the least number, and so exp of its difference from that is 0.
Value* at_least_finite(FunctionEmitter& f, DType dtype, Value* x) {
  Value* least = splat(f, constant(f.b, least_number(dtype)), width_of(x));
  return select(f, emit_op(f, ScalarOp::lt_, dtype, {x, least}, nullptr), least, x);
}

/// exp(x - greatest), in the fold's dtype.
Value* exponential(FunctionEmitter& f, const Statement& fold, Value* x, Value* greatest) {
  const DType dtype = (&fold)[1].dtype;
  const llvm::IRBuilder<>::FastMathFlagGuard guard(f.b);
  f.b.clearFastMathFlags();
  Value* difference = emit_op(f, ScalarOp::sub_, dtype, {x, at_least_finite(f, dtype, greatest)}, nullptr);
  return emit_cast(f, emit_op(f, ScalarOp::exp_, dtype, {difference}, nullptr), dtype, fold.dtype);
}

}  // namespace

Value* at_greatest(FunctionEmitter& f, const Statement& fold, const SumOfExponentials& both, Value* met) {
  return emit_op(f, ScalarOp::mul_, fold.dtype, {both.sum, exponential(f, fold, both.greatest, met)}, nullptr);
}

/// All lanes have one greatest number, which is seldom less than the next ones: then what was summed is less of a
/// greater one. So a point takes one exponential.
SumOfExponentials add_exponentials(FunctionEmitter& f, const Statement& fold, const SumOfExponentials& before, Value* x,
                                   Value* active) {
  const Statement& other = (&fold)[1];
  const int width = width_of(x);
  Value* nothing = splat(f, constant(f.b, identity_of(Combine::max, other.dtype)), width);
  if (active) x = select(f, active, x, nothing);
  Value* is_less =
      emit_op(f, ScalarOp::le_, other.dtype, {x, at_least_finite(f, other.dtype, before.greatest)}, nullptr);
  const Branch branch = open_if(f.b, any_lane(f, f.b.CreateNot(is_less)));
  Value* both = emit_combine(f, Combine::max, other.dtype, before.greatest, x);
  Value* greatest = splat(f, reduce_lanes(f, Combine::max, other.dtype, both), width);
  const std::vector<Value*> now =
      close_if(f.b, branch, {at_greatest(f, fold, before, greatest), greatest}, {before.sum, before.greatest});
  return {.sum = emit_op(f, ScalarOp::add_, fold.dtype, {now[0], exponential(f, fold, x, now[1])}, nullptr),
          .greatest = now[1]};
}

SumOfExponentials joined_lanes(FunctionEmitter& f, const Statement& fold, const SumOfExponentials& lanes) {
  const Statement& other = (&fold)[1];
  Value* greatest = reduce_lanes(f, other.combine(), other.dtype, lanes.greatest);
  Value* met = at_greatest(f, fold, lanes, splat(f, greatest, width_of(lanes.sum)));
  return {.sum = reduce_lanes(f, fold.combine(), fold.dtype, met), .greatest = greatest};
}

}  // namespace inlay::llvm_backend
