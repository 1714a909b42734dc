// x / d, where d is the same for a whole loop (a standard deviation, a count), rounded as division rounds, without
// dividing.
//
// Eight doubles take 16 cycles to divide and 1 to multiply; sixteen floats 10. With r = 1/d rounded, q = x r is
// within 1.5 ulp of x/d; the rest e = x - q d is exact in one fused multiply-add, and q + e r rounds to the quotient
// (Markstein; of numbers of up to 9 digits all quotients were tried, and none came out otherwise).
//
// That holds where r and q are normal numbers and the rest does not underflow, that is, where |q + e r| is at least
// `minimum`. It is less, or NaN, for any x and d of which something overflows, underflows, or is infinite, NaN or 0:
// such vectors are divided, in a cold block. Not so if x is 0 where it fails, which is frequent in data: x r is x/d
// then, and has its sign, if it is a number (r may be infinite where d is not 0).
#include <limits>

#include "backend/llvm/scalar.h"

namespace inlay::llvm_backend {

namespace {

/// A quotient of at least `quotient` is normal, and so was x r. A rest x - q d of an x of at least `dividend` is a
/// multiple of the smallest subnormal number: 2 x 53 digits above 2^-1074, and for floats 2 x 24 above 2^-149.
struct Minimum {
  double quotient, dividend;
};

Minimum minimum_for(const Value* divisor) {
  if (divisor->getType()->getScalarType()->isFloatTy()) return {0x1p-124, 0x1p-96};
  return {0x1p-1020, 0x1p-960};
}

}  // namespace

UniformDivisor prepare_divisor(FunctionEmitter& f, Value* divisor, int width) {
  llvm::IRBuilder<>& b = f.b;
  llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  const auto number = [&](double value) { return number_like(divisor, value); };
  const Minimum minimum = minimum_for(divisor);
  UniformDivisor out{};
  out.divisor = divisor;
  out.reciprocal = b.CreateFDiv(number(1), divisor);
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, out.reciprocal);
  Value* of_rest = b.CreateFMul(magnitude, number(minimum.dividend));
  Value* of_both =
      b.CreateSelect(b.CreateFCmpOGT(of_rest, number(minimum.quotient)), of_rest, number(minimum.quotient));
  Value* is_normal = b.CreateFCmpOGE(magnitude, number(minimum.quotient));  // not NaN either
  out.minimum = b.CreateSelect(is_normal, of_both, number(std::numeric_limits<double>::infinity()));
  if (divisor->getType()->isVectorTy()) return out;
  for_each_part(out, [&](Value*& part) { part = splat(f, part, width); });
  return out;
}

Value* divide(FunctionEmitter& f, Value* x, const UniformDivisor& by, Value* active) {
  llvm::IRBuilder<>& b = f.b;
  llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  const auto multiply_add = [&](Value* p, Value* q, Value* sum) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {p, q, sum});
  };
  Value* product = b.CreateFMul(x, by.reciprocal);
  Value* rest = multiply_add(b.CreateFNeg(product), by.divisor, x);
  Value* corrected = multiply_add(rest, by.reciprocal, product);
  Value* small = b.CreateFCmpULT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, corrected), by.minimum);
  if (active) small = b.CreateAnd(small, active);

  llvm::BasicBlock* usual = b.GetInsertBlock();
  llvm::BasicBlock* some_small = new_block(b, "small");
  llvm::BasicBlock* cold = new_block(b, "divide");
  llvm::BasicBlock* go_on = new_block(b, "divided");
  b.CreateCondBr(any_lane(f, small), some_small, go_on, unlikely(b));
  b.SetInsertPoint(some_small);
  Value* of_zeros = b.CreateSelect(small, product, corrected);
  Value* is_zero = b.CreateAnd(b.CreateFCmpOEQ(x, number_like(x, 0)), b.CreateFCmpORD(product, product));
  Value* is_open = b.CreateAnd(small, b.CreateNot(is_zero));
  b.CreateCondBr(any_lane(f, is_open), cold, go_on);
  b.SetInsertPoint(cold);
  Value* divided = b.CreateFDiv(x, by.divisor);
  b.CreateBr(go_on);
  b.SetInsertPoint(go_on);
  llvm::PHINode* quotient = b.CreatePHI(x->getType(), 3);
  quotient->addIncoming(corrected, usual);
  quotient->addIncoming(of_zeros, some_small);
  quotient->addIncoming(divided, cold);
  return quotient;
}

}  // namespace inlay::llvm_backend
