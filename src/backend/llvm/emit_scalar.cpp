// One ScalarOp at a time. The switch names every op: a new row in scalar_ops.def does not compile until it is here.
#include <cmath>
#include <limits>

#include "backend/llvm/scalar.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

using llvm::Intrinsic::ID;

Value* zero_like(const Value* value) { return llvm::Constant::getNullValue(value->getType()); }

bool is_floating(const Value* value) { return value->getType()->isFPOrFPVectorTy(); }

Value* unary_intrinsic(FunctionEmitter& f, ID id, Value* x) { return f.b.CreateUnaryIntrinsic(id, x); }

Value* absolute(FunctionEmitter& f, DType dtype, Value* x) {
  if (is_floating(x)) return unary_intrinsic(f, llvm::Intrinsic::fabs, x);
  if (!is_signed_integer(dtype)) return x;
  return f.b.CreateSelect(f.b.CreateICmpSLT(x, zero_like(x)), f.b.CreateNeg(x), x);  // the minimum integer stays
}

Value* sign(FunctionEmitter& f, DType dtype, Value* x) {
  llvm::IRBuilder<>& b = f.b;
  Value* zero = zero_like(x);
  if (is_floating(x)) {
    Value* below = b.CreateSelect(b.CreateFCmpOLT(x, zero), number_like(x, -1), zero);  // 0 for -0.0
    Value* ordered = b.CreateSelect(b.CreateFCmpOGT(x, zero), number_like(x, 1), below);
    return b.CreateSelect(b.CreateFCmpUNO(x, x), x, ordered);
  }
  if (!is_signed_integer(dtype)) return b.CreateZExt(b.CreateICmpNE(x, zero), x->getType());
  return b.CreateSub(b.CreateZExt(b.CreateICmpSGT(x, zero), x->getType()),
                     b.CreateZExt(b.CreateICmpSLT(x, zero), x->getType()));
}

/// NaN wins from either side. The one instruction max(a, b) returns b when one is NaN, so only a's NaN is to be kept.
Value* extremum(FunctionEmitter& f, DType dtype, Value* a, Value* c, bool maximum) {
  llvm::IRBuilder<>& b = f.b;
  if (is_floating(a)) {
    Value* first = maximum ? b.CreateFCmpOGT(a, c) : b.CreateFCmpOLT(a, c);
    return b.CreateSelect(b.CreateFCmpUNO(a, a), a, b.CreateSelect(first, a, c));
  }
  if (dtype == DType::boolean) return maximum ? b.CreateOr(a, c) : b.CreateAnd(a, c);
  const bool is_signed = is_signed_integer(dtype);
  const ID id = maximum ? (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                        : (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
  return b.CreateBinaryIntrinsic(id, a, c);
}

Value* compare(FunctionEmitter& f, DType dtype, Value* a, Value* c, llvm::CmpInst::Predicate floating,
               llvm::CmpInst::Predicate signed_, llvm::CmpInst::Predicate unsigned_) {
  if (is_floating(a)) return f.b.CreateFCmp(floating, a, c);
  return f.b.CreateICmp(is_signed_integer(dtype) ? signed_ : unsigned_, a, c);
}

/// Quotient and rest with the sign of the divisor; both 0 for a divisor of 0. Nothing traps: neither 0 nor minimum /
/// -1.
struct Division {
  Value *quotient, *rest;
};
Division integer_division(FunctionEmitter& f, DType dtype, Value* a, Value* c) {
  llvm::IRBuilder<>& b = f.b;
  Value* zero = zero_like(a);
  Value* one = llvm::ConstantInt::get(a->getType(), 1);
  Value* none = b.CreateICmpEQ(c, zero);
  if (!is_signed_integer(dtype)) {
    Value* divisor = b.CreateSelect(none, one, c);
    Value* quotient = b.CreateUDiv(a, divisor);
    Value* rest = b.CreateSub(a, b.CreateMul(quotient, divisor));
    return {b.CreateSelect(none, zero, quotient), b.CreateSelect(none, zero, rest)};
  }
  Value* minus = b.CreateICmpEQ(c, llvm::Constant::getAllOnesValue(c->getType()));
  Value* divisor = b.CreateSelect(b.CreateOr(none, minus), one, c);
  Value* quotient = b.CreateSDiv(a, divisor);
  Value* rest = b.CreateSub(a, b.CreateMul(quotient, divisor));
  Value* inexact = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(rest, divisor), zero));
  Value* floored = b.CreateSelect(inexact, b.CreateSub(quotient, one), quotient);
  Value* positive = b.CreateSelect(inexact, b.CreateAdd(rest, divisor), rest);
  floored = b.CreateSelect(minus, b.CreateNeg(a), floored);  // wraps
  return {b.CreateSelect(none, zero, floored), b.CreateSelect(none, zero, positive)};
}

Value* width_in_bits(const Value* like) {
  return llvm::ConstantInt::get(like->getType(), like->getType()->getScalarSizeInBits());
}

/// What a shift of LLVM leaves undefined for a large count is never chosen.
Value* shift_left(FunctionEmitter& f, Value* a, Value* count) {
  Value* inside = f.b.CreateICmpULT(count, width_in_bits(count));
  return f.b.CreateSelect(inside, f.b.CreateShl(a, count), zero_like(a));
}

Value* shift_right(FunctionEmitter& f, DType dtype, Value* a, Value* count) {
  llvm::IRBuilder<>& b = f.b;
  Value* inside = b.CreateICmpULT(count, width_in_bits(count));
  if (!is_signed_integer(dtype)) return b.CreateSelect(inside, b.CreateLShr(a, count), zero_like(a));
  Value* most = b.CreateSub(width_in_bits(count), llvm::ConstantInt::get(count->getType(), 1));
  return b.CreateAShr(a, b.CreateSelect(inside, count, most));
}

Value* bits_of(FunctionEmitter& f, Value* x) {
  return f.b.CreateBitCast(x, x->getType()->getWithNewType(f.b.getIntNTy(x->getType()->getScalarSizeInBits())));
}

/// Neighbours differ by 1 as integers, away from zero where the integer grows.
Value* next_after(FunctionEmitter& f, Value* x, Value* y) {
  llvm::IRBuilder<>& b = f.b;
  Value* bits = bits_of(f, x);
  Value* one = llvm::ConstantInt::get(bits->getType(), 1);
  Value* grows = b.CreateICmpEQ(b.CreateFCmpOLT(x, y), b.CreateFCmpOGT(x, zero_like(x)));
  Value* next = b.CreateBitCast(b.CreateSelect(grows, b.CreateAdd(bits, one), b.CreateSub(bits, one)), x->getType());
  Value* minimum = b.CreateBitCast(one, x->getType());
  Value* from_zero = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, minimum, y);
  next = b.CreateSelect(b.CreateFCmpOEQ(x, zero_like(x)), from_zero, next);
  next = b.CreateSelect(b.CreateFCmpOEQ(x, y), y, next);
  return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), next);
}

/// Any integer width through the i64 function: everything wraps, so only the low bits matter.
Value* integer_power(FunctionEmitter& f, DType dtype, Value* a, Value* c, Value* active) {
  llvm::Type* type = a->getType();
  llvm::Type* wide = type->getWithNewType(f.b.getInt64Ty());
  const auto widen = [&](Value* x) {
    return is_signed_integer(dtype) ? f.b.CreateSExt(x, wide) : f.b.CreateZExt(x, wide);
  };
  if (dtype != DType::u64) return f.b.CreateTrunc(emit_math(f, "pow_i64", {widen(a), widen(c)}, active), type);
  // An exponent past 2^63 would look negative: the root of the even part, squared.
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* root = emit_math(f, "pow_i64", {a, f.b.CreateLShr(c, one)}, active);
  Value* odd = f.b.CreateICmpNE(f.b.CreateAnd(c, one), zero_like(c));
  return f.b.CreateMul(f.b.CreateMul(root, root), f.b.CreateSelect(odd, a, one));
}

/// f16 and bf16: each op rounds.
Value* in_f32(FunctionEmitter& f, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> operands, Value* active) {
  llvm::SmallVector<Value*, 2> wide;
  for (Value* operand : operands) wide.push_back(emit_cast(f, operand, dtype, DType::f32));
  Value* result = emit_op(f, op, DType::f32, wide, active);
  return result_dtype(op, dtype) == DType::boolean ? result : emit_cast(f, result, DType::f32, dtype);
}

}  // namespace

llvm::Constant* number_like(const Value* like, double value) {
  llvm::Type* type = like->getType();
  if (type->isFPOrFPVectorTy()) return llvm::ConstantFP::get(type, value);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(static_cast<int64_t>(value)), true);
}

Value* any_lane(FunctionEmitter& f, Value* lanes) {
  const int width = width_of(lanes);
  if (width == 1) return lanes;
  Value* bits = f.b.CreateBitCast(lanes, f.b.getIntNTy(static_cast<unsigned>(width)));
  return f.b.CreateICmpNE(bits, zero_like(bits));
}

Value* emit_op(FunctionEmitter& f, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> v, Value* active) {
  if (is_complex(dtype)) return emit_complex_op(f, op, dtype, v, active);
  if (is_half(dtype) && op != ScalarOp::select_) return in_f32(f, op, dtype, v, active);
  using P = llvm::CmpInst::Predicate;
  llvm::IRBuilder<>& b = f.b;
  const bool floating = is_floating(v.back());
  switch (op) {
    case ScalarOp::neg_: return floating ? b.CreateFNeg(v[0]) : b.CreateNeg(v[0]);
    case ScalarOp::abs_: return absolute(f, dtype, v[0]);
    case ScalarOp::sign_: return sign(f, dtype, v[0]);
    case ScalarOp::reciprocal_: return b.CreateFDiv(number_like(v[0], 1), v[0]);
    case ScalarOp::square_: return floating ? b.CreateFMul(v[0], v[0]) : b.CreateMul(v[0], v[0]);
    case ScalarOp::sqrt_: return unary_intrinsic(f, llvm::Intrinsic::sqrt, v[0]);
    case ScalarOp::cbrt_: return emit_math(f, "cbrt", v, active);
    case ScalarOp::exp_: return emit_math(f, "exp", v, active);
    case ScalarOp::exp2_: return emit_math(f, "exp2", v, active);
    case ScalarOp::expm1_: return emit_math(f, "expm1", v, active);
    case ScalarOp::log_: return emit_math(f, "log", v, active);
    case ScalarOp::log2_: return emit_math(f, "log2", v, active);
    case ScalarOp::log10_: return emit_math(f, "log10", v, active);
    case ScalarOp::log1p_: return emit_math(f, "log1p", v, active);
    case ScalarOp::log1mexp_: return emit_math(f, "log1mexp", v, active);
    case ScalarOp::sigmoid_: return emit_math(f, "sigmoid", v, active);
    case ScalarOp::softplus_: return emit_math(f, "softplus", v, active);
    case ScalarOp::sin_: return emit_math(f, "sin", v, active);
    case ScalarOp::cos_: return emit_math(f, "cos", v, active);
    case ScalarOp::tan_: return emit_math(f, "tan", v, active);
    case ScalarOp::arcsin_: return emit_math(f, "arcsin", v, active);
    case ScalarOp::arccos_: return emit_math(f, "arccos", v, active);
    case ScalarOp::arctan_: return emit_math(f, "arctan", v, active);
    case ScalarOp::sinh_: return emit_math(f, "sinh", v, active);
    case ScalarOp::cosh_: return emit_math(f, "cosh", v, active);
    case ScalarOp::tanh_: return emit_math(f, "tanh", v, active);
    case ScalarOp::arcsinh_: return emit_math(f, "arcsinh", v, active);
    case ScalarOp::arccosh_: return emit_math(f, "arccosh", v, active);
    case ScalarOp::arctanh_: return emit_math(f, "arctanh", v, active);
    case ScalarOp::deg2rad_: return b.CreateFMul(v[0], number_like(v[0], M_PI / 180));
    case ScalarOp::rad2deg_: return b.CreateFMul(v[0], number_like(v[0], 180 / M_PI));
    case ScalarOp::floor_: return unary_intrinsic(f, llvm::Intrinsic::floor, v[0]);
    case ScalarOp::ceil_: return unary_intrinsic(f, llvm::Intrinsic::ceil, v[0]);
    case ScalarOp::round_: return unary_intrinsic(f, llvm::Intrinsic::roundeven, v[0]);
    case ScalarOp::trunc_: return unary_intrinsic(f, llvm::Intrinsic::trunc, v[0]);
    case ScalarOp::erf_: return emit_math(f, "erf", v, active);
    case ScalarOp::erfc_: return emit_math(f, "erfc", v, active);
    case ScalarOp::erfcx_: return emit_math(f, "erfcx", v, active);
    case ScalarOp::erfinv_: return emit_math(f, "erfinv", v, active);
    case ScalarOp::erfcinv_: return emit_math(f, "erfcinv", v, active);
    case ScalarOp::ndtr_: return emit_math(f, "ndtr", v, active);
    case ScalarOp::ndtri_: return emit_math(f, "ndtri", v, active);
    case ScalarOp::ndtri_exp_: return emit_math(f, "ndtri_exp", v, active);
    case ScalarOp::log_ndtr_: return emit_math(f, "log_ndtr", v, active);
    case ScalarOp::logit_: return emit_math(f, "logit", v, active);
    case ScalarOp::lgamma_: return emit_math(f, "lgamma", v, active);
    case ScalarOp::gamma_: return emit_math(f, "gamma", v, active);
    case ScalarOp::digamma_: return emit_math(f, "digamma", v, active);
    case ScalarOp::trigamma_: return emit_math(f, "trigamma", v, active);
    case ScalarOp::i0_: return emit_math(f, "i0", v, active);
    case ScalarOp::i1_: return emit_math(f, "i1", v, active);
    case ScalarOp::j0_: return emit_math(f, "j0", v, active);
    case ScalarOp::j1_: return emit_math(f, "j1", v, active);
    case ScalarOp::isnan_: return b.CreateFCmpUNO(v[0], v[0]);
    case ScalarOp::isinf_:
      return b.CreateFCmpOEQ(absolute(f, dtype, v[0]), number_like(v[0], std::numeric_limits<double>::infinity()));
    case ScalarOp::isfinite_:
      return b.CreateFCmpOLT(absolute(f, dtype, v[0]), number_like(v[0], std::numeric_limits<double>::infinity()));
    case ScalarOp::signbit_: return b.CreateICmpSLT(bits_of(f, v[0]), zero_like(bits_of(f, v[0])));
    case ScalarOp::not_: return b.CreateNot(v[0]);
    case ScalarOp::add_: return floating ? b.CreateFAdd(v[0], v[1]) : b.CreateAdd(v[0], v[1]);
    case ScalarOp::sub_: return floating ? b.CreateFSub(v[0], v[1]) : b.CreateSub(v[0], v[1]);
    case ScalarOp::mul_: return floating ? b.CreateFMul(v[0], v[1]) : b.CreateMul(v[0], v[1]);
    case ScalarOp::div_: return b.CreateFDiv(v[0], v[1]);
    case ScalarOp::floor_div_:
      return floating ? emit_math(f, "floor_div", v, active) : integer_division(f, dtype, v[0], v[1]).quotient;
    case ScalarOp::mod_: return floating ? emit_math(f, "mod", v, active) : integer_division(f, dtype, v[0], v[1]).rest;
    case ScalarOp::pow_: return floating ? emit_math(f, "pow", v, active) : integer_power(f, dtype, v[0], v[1], active);
    case ScalarOp::max_: return extremum(f, dtype, v[0], v[1], true);
    case ScalarOp::min_: return extremum(f, dtype, v[0], v[1], false);
    case ScalarOp::arctan2_: return emit_math(f, "arctan2", v, active);
    case ScalarOp::copysign_: return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, v[0], v[1]);
    case ScalarOp::nextafter_: return next_after(f, v[0], v[1]);
    case ScalarOp::xlogy_: return emit_math(f, "xlogy", v, active);
    case ScalarOp::xlog1py_: return emit_math(f, "xlog1py", v, active);
    case ScalarOp::logaddexp_: return emit_math(f, "logaddexp", v, active);
    case ScalarOp::beta_: return emit_math(f, "beta", v, active);
    case ScalarOp::lbeta_: return emit_math(f, "lbeta", v, active);
    case ScalarOp::polygamma_: return emit_math(f, "polygamma", v, active);
    case ScalarOp::gammainc_: return emit_math(f, "gammainc", v, active);
    case ScalarOp::gammaincc_: return emit_math(f, "gammaincc", v, active);
    case ScalarOp::gammainc_da_: return emit_math(f, "gammainc_da", v, active);
    case ScalarOp::gammaincinv_: return emit_math(f, "gammaincinv", v, active);
    case ScalarOp::gammainccinv_: return emit_math(f, "gammainccinv", v, active);
    case ScalarOp::owens_t_: return emit_math(f, "owens_t", v, active);
    case ScalarOp::jv_: return emit_math(f, "jv", v, active);
    case ScalarOp::ive_: return emit_math(f, "ive", v, active);
    case ScalarOp::kve_: return emit_math(f, "kve", v, active);
    case ScalarOp::complex_: return complex_of(f, v[0], v[1]);
    case ScalarOp::real_:
    case ScalarOp::imag_:
    case ScalarOp::conj_:
    case ScalarOp::angle_: break;  // of complex operands only
    case ScalarOp::eq_: return compare(f, dtype, v[0], v[1], P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case ScalarOp::ne_: return compare(f, dtype, v[0], v[1], P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
    case ScalarOp::lt_: return compare(f, dtype, v[0], v[1], P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
    case ScalarOp::le_: return compare(f, dtype, v[0], v[1], P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case ScalarOp::gt_: return compare(f, dtype, v[0], v[1], P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
    case ScalarOp::ge_: return compare(f, dtype, v[0], v[1], P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
    case ScalarOp::and_: return b.CreateAnd(v[0], v[1]);
    case ScalarOp::or_: return b.CreateOr(v[0], v[1]);
    case ScalarOp::xor_: return b.CreateXor(v[0], v[1]);
    case ScalarOp::left_shift_: return shift_left(f, v[0], v[1]);
    case ScalarOp::right_shift_: return shift_right(f, dtype, v[0], v[1]);
    case ScalarOp::clip_: return extremum(f, dtype, extremum(f, dtype, v[0], v[1], true), v[2], false);
    case ScalarOp::betainc_: return emit_math(f, "betainc", v, active);
    case ScalarOp::betainc_da_: return emit_math(f, "betainc_da", v, active);
    case ScalarOp::betainc_db_: return emit_math(f, "betainc_db", v, active);
    case ScalarOp::betaincinv_: return emit_math(f, "betaincinv", v, active);
    case ScalarOp::hyp2f1_: return emit_math(f, "hyp2f1", v, active);
    case ScalarOp::select_: return b.CreateSelect(v[0], v[1], v[2]);
  }
  INLAY_CHECK(false, "a scalar op of no kind");
  return nullptr;
}

Value* emit_combine(FunctionEmitter& f, Combine combine, DType dtype, Value* left, Value* right) {
  return emit_op(f, combine_op(combine), dtype, {left, right}, nullptr);
}

}  // namespace inlay::llvm_backend
