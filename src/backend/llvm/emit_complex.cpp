// Complex numbers by their parts: NumPy's formulas (ops/complex_value.h), and C functions lane by lane.
#include <limits>

#include "backend/llvm/complex.h"
#include "backend/llvm/scalar.h"
#include "support/error.h"

namespace inlay::llvm_backend {

Parts parts_of(FunctionEmitter& f, Value* value) {
  // What was just put together is not taken apart again.
  if (auto* outer = llvm::dyn_cast<llvm::InsertValueInst>(value)) {
    auto* inner = llvm::dyn_cast<llvm::InsertValueInst>(outer->getAggregateOperand());
    if (inner && outer->getIndices()[0] == 1 && inner->getIndices()[0] == 0) {
      return {inner->getInsertedValueOperand(), outer->getInsertedValueOperand()};
    }
  }
  return {f.b.CreateExtractValue(value, 0), f.b.CreateExtractValue(value, 1)};
}

Value* complex_of(FunctionEmitter& f, Value* re, Value* im) {
  Value* none = llvm::PoisonValue::get(complex_type(re->getType()));
  return f.b.CreateInsertValue(f.b.CreateInsertValue(none, re, 0), im, 1);
}

Value* for_each_part(FunctionEmitter& f, Value* value, llvm::function_ref<Value*(Value*)> emit) {
  if (!is_complex(value)) return emit(value);
  const Parts parts = parts_of(f, value);
  Value* re = emit(parts.re);
  return complex_of(f, re, emit(parts.im));
}

Value* lane_of(FunctionEmitter& f, Value* lanes, Value* lane) {
  return for_each_part(f, lanes, [&](Value* part) { return f.b.CreateExtractElement(part, lane); });
}

Value* from_lanes(FunctionEmitter& f, llvm::ArrayRef<Value*> lanes) {
  if (is_complex(lanes[0])) {
    llvm::SmallVector<Value*, 16> re, im;
    for (Value* lane : lanes) {
      const Parts parts = parts_of(f, lane);
      re.push_back(parts.re);
      im.push_back(parts.im);
    }
    return complex_of(f, from_lanes(f, re), from_lanes(f, im));
  }
  const auto width = static_cast<unsigned>(lanes.size());
  Value* out = llvm::PoisonValue::get(llvm::FixedVectorType::get(lanes[0]->getType(), width));
  for (unsigned lane = 0; lane < width; ++lane) out = f.b.CreateInsertElement(out, lanes[lane], uint64_t{lane});
  return out;
}

Value* select(FunctionEmitter& f, Value* condition, Value* yes, Value* no) {
  if (!is_complex(yes)) return f.b.CreateSelect(condition, yes, no);
  const Parts a = parts_of(f, yes), b = parts_of(f, no);
  return complex_of(f, f.b.CreateSelect(condition, a.re, b.re), f.b.CreateSelect(condition, a.im, b.im));
}

Value* interleaved(FunctionEmitter& f, Value* value) {
  const Parts parts = parts_of(f, value);
  const int width = width_of(value);
  llvm::SmallVector<int, 32> lanes;
  for (int lane = 0; lane < width; ++lane) lanes.append({lane, width + lane});
  return f.b.CreateShuffleVector(parts.re, parts.im, lanes);
}

Value* deinterleaved(FunctionEmitter& f, Value* value) {
  llvm::SmallVector<int, 16> even, odd;
  for (int lane = 0; lane < width_of(value); lane += 2) {
    even.push_back(lane);
    odd.push_back(lane + 1);
  }
  return complex_of(f, f.b.CreateShuffleVector(value, even), f.b.CreateShuffleVector(value, odd));
}

Value* twice_each(FunctionEmitter& f, Value* mask) {
  llvm::SmallVector<int, 32> lanes;
  for (int lane = 0; lane < width_of(mask); ++lane) lanes.append({lane, lane});
  return f.b.CreateShuffleVector(mask, lanes);
}

namespace {

Value* magnitude(FunctionEmitter& f, Value* x) { return f.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

/// For its lifetime no product is fused with a sum. The two products of a part are of one size: one that is not rounded
/// would leave the other's rounding where they cancel, as in the imaginary part of z times its conjugate.
class EachRounds {
 public:
  explicit EachRounds(FunctionEmitter& f) : guard_(f.b) { f.b.clearFastMathFlags(); }

 private:
  llvm::IRBuilder<>::FastMathFlagGuard guard_;
};

Parts product(FunctionEmitter& f, Parts x, Parts y) {
  const EachRounds each(f);
  llvm::IRBuilder<>& b = f.b;
  return {b.CreateFSub(b.CreateFMul(x.re, y.re), b.CreateFMul(x.im, y.im)),
          b.CreateFAdd(b.CreateFMul(x.re, y.im), b.CreateFMul(x.im, y.re))};
}

/// y divided by its larger part, and that: Smith's method without a branch.
struct Divisor {
  Value* real_is_larger;
  Value* ratio;  // smaller part / larger part
  Value* whole;  // larger part + smaller part * ratio
};
Divisor divisor(FunctionEmitter& f, Parts y, Value* real_is_larger) {
  llvm::IRBuilder<>& b = f.b;
  Value* larger = b.CreateSelect(real_is_larger, y.re, y.im);
  Value* smaller = b.CreateSelect(real_is_larger, y.im, y.re);
  Value* ratio = b.CreateFDiv(smaller, larger);
  return {real_is_larger, ratio, b.CreateFAdd(larger, b.CreateFMul(smaller, ratio))};
}

Parts quotient(FunctionEmitter& f, Parts x, Parts y) {
  const EachRounds each(f);
  llvm::IRBuilder<>& b = f.b;
  Value *re = magnitude(f, y.re), *im = magnitude(f, y.im);
  const Divisor by = divisor(f, y, b.CreateFCmpOGE(re, im));
  Value* scale = b.CreateFDiv(number_like(re, 1), by.whole);
  // Smaller to larger: for a larger imaginary part the parts of x change places, and a sign.
  Value* first = b.CreateSelect(by.real_is_larger, x.re, x.im);
  Value* second = b.CreateSelect(by.real_is_larger, x.im, x.re);
  Value* out_re = b.CreateFMul(b.CreateFAdd(first, b.CreateFMul(second, by.ratio)), scale);
  Value* cross = b.CreateFMul(first, by.ratio);
  Value* out_im =
      b.CreateFMul(b.CreateSelect(by.real_is_larger, b.CreateFSub(second, cross), b.CreateFSub(cross, second)), scale);
  Value* zero = b.CreateAnd(b.CreateFCmpOEQ(re, number_like(re, 0)), b.CreateFCmpOEQ(im, number_like(im, 0)));
  return {b.CreateSelect(zero, b.CreateFDiv(x.re, re), out_re), b.CreateSelect(zero, b.CreateFDiv(x.im, re), out_im)};
}

Parts reciprocal(FunctionEmitter& f, Parts y) {
  const EachRounds each(f);
  llvm::IRBuilder<>& b = f.b;
  const Divisor by = divisor(f, y, b.CreateFCmpOLE(magnitude(f, y.im), magnitude(f, y.re)));
  Value* one = b.CreateFDiv(number_like(y.re, 1), by.whole);
  Value* part = b.CreateFDiv(by.ratio, by.whole);
  return {b.CreateSelect(by.real_is_larger, one, part),
          b.CreateSelect(by.real_is_larger, b.CreateFNeg(part), b.CreateFNeg(one))};
}

Value* in_either(FunctionEmitter& f, ScalarOp op, DType part, Parts x, Value* active) {
  return f.b.CreateOr(emit_op(f, op, part, {x.re}, active), emit_op(f, op, part, {x.im}, active));
}

}  // namespace

Value* emit_complex_op(FunctionEmitter& f, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> v, Value* active) {
  llvm::IRBuilder<>& b = f.b;
  if (op == ScalarOp::select_) return select(f, v[0], v[1], v[2]);
  const DType part = real_of(dtype);
  const Parts x = parts_of(f, v[0]), y = parts_of(f, v.back());
  const auto made = [&](Parts parts) { return complex_of(f, parts.re, parts.im); };
  const auto function = [&](const char* name) { return emit_complex_math(f, name, {x.re, x.im}); };
  switch (op) {
    case ScalarOp::neg_: return made({b.CreateFNeg(x.re), b.CreateFNeg(x.im)});
    case ScalarOp::abs_: return emit_math(f, "hypot", {x.re, x.im}, active);
    case ScalarOp::sign_: return function("csign");
    case ScalarOp::reciprocal_: return made(reciprocal(f, x));
    case ScalarOp::square_: return made(product(f, x, x));
    case ScalarOp::sqrt_: return function("csqrt");
    case ScalarOp::exp_: return function("cexp");
    case ScalarOp::exp2_: return function("cexp2");
    case ScalarOp::expm1_: return function("cexpm1");
    case ScalarOp::log_: return function("clog");
    case ScalarOp::log2_: return function("clog2");
    case ScalarOp::log10_: return function("clog10");
    case ScalarOp::log1p_: return function("clog1p");
    case ScalarOp::sin_: return function("csin");
    case ScalarOp::cos_: return function("ccos");
    case ScalarOp::tan_: return function("ctan");
    case ScalarOp::arcsin_: return function("carcsin");
    case ScalarOp::arccos_: return function("carccos");
    case ScalarOp::arctan_: return function("carctan");
    case ScalarOp::sinh_: return function("csinh");
    case ScalarOp::cosh_: return function("ccosh");
    case ScalarOp::tanh_: return function("ctanh");
    case ScalarOp::arcsinh_: return function("carcsinh");
    case ScalarOp::arccosh_: return function("carccosh");
    case ScalarOp::arctanh_: return function("carctanh");
    case ScalarOp::isnan_:
    case ScalarOp::isinf_: return in_either(f, op, part, x, active);
    case ScalarOp::isfinite_:
      return b.CreateAnd(emit_op(f, op, part, {x.re}, active), emit_op(f, op, part, {x.im}, active));
    case ScalarOp::real_: return x.re;
    case ScalarOp::imag_: return x.im;
    case ScalarOp::conj_: return made({x.re, b.CreateFNeg(x.im)});
    case ScalarOp::angle_: return emit_math(f, "arctan2", {x.im, x.re}, active);
    case ScalarOp::add_: return made({b.CreateFAdd(x.re, y.re), b.CreateFAdd(x.im, y.im)});
    case ScalarOp::sub_: return made({b.CreateFSub(x.re, y.re), b.CreateFSub(x.im, y.im)});
    case ScalarOp::mul_: return made(product(f, x, y));
    case ScalarOp::div_: return made(quotient(f, x, y));
    case ScalarOp::pow_: return emit_complex_math(f, "cpow", {x.re, x.im, y.re, y.im});
    case ScalarOp::eq_: return b.CreateAnd(b.CreateFCmpOEQ(x.re, y.re), b.CreateFCmpOEQ(x.im, y.im));
    case ScalarOp::ne_: return b.CreateOr(b.CreateFCmpUNE(x.re, y.re), b.CreateFCmpUNE(x.im, y.im));
    default: break;  // a new row that accepts complex numbers is found by ops_test.cpp, which walks the table
  }
  INLAY_CHECK(false, "`", facts(op).name, "` of complex numbers");
  return nullptr;
}

}  // namespace inlay::llvm_backend
