// x / d, where d is the same for a whole loop (a standard deviation, a count), without dividing.
//
// Eight doubles take 16 cycles to divide and 1 to multiply; sixteen floats 10. With r = 1/d rounded, q = x r is
// within 1.5 ulp of x/d; the rest x - q d is exact in one fused multiply-add, and q + rest r is then the rounded
// quotient (Markstein; the cases where it could differ need x/d within 2^-104 of the middle between two doubles). Where
// |x| is below 2^-960, of floats 2^-100, the rest may underflow, and the quotient be one unit in the last place off.
// 1/d must be a normal number, so d is scaled by a power of two first, and x by the same: exact wherever x/d is not 0
// or infinite anyway. For d = 0, infinite or NaN the product x r alone is x/d already and the correction must do
// nothing; where the correction is NaN (x infinite), or 0 and so without its sign, q stands.
#include <limits>

#include "backend/llvm/scalar.h"

namespace inlay::llvm_backend {

namespace {

/// Divisors whose reciprocal is a normal number, and what brings others there.
struct Range {
  double least, greatest, up, down;
};

Range usual_divisors(const Value* divisor) {
  if (divisor->getType()->getScalarType()->isFloatTy()) return {0x1p-100, 0x1p100, 0x1p60, 0x1p-60};
  return {0x1p-1000, 0x1p1000, 0x1p100, 0x1p-100};
}

}  // namespace

UniformDivisor prepare_divisor(FunctionEmitter& f, Value* divisor, int width) {
  llvm::IRBuilder<>& b = f.b;
  llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  const auto number = [&](double value) { return number_like(divisor, value); };
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, divisor);
  const Range range = usual_divisors(divisor);
  Value* small = b.CreateFCmpOLT(magnitude, number(range.least));
  Value* large = b.CreateFCmpOGT(magnitude, number(range.greatest));
  UniformDivisor out{};
  out.scale = b.CreateSelect(small, number(range.up), b.CreateSelect(large, number(range.down), number(1)));
  Value* scaled = b.CreateFMul(divisor, out.scale);
  out.reciprocal = b.CreateFDiv(number(1), scaled);
  Value* usual = b.CreateAnd(b.CreateFCmpONE(divisor, number(0)),
                             b.CreateFCmpOLT(magnitude, number(std::numeric_limits<double>::infinity())));
  out.exact_divisor = b.CreateSelect(usual, scaled, number(0));
  out.exact_reciprocal = b.CreateSelect(usual, out.reciprocal, number(0));
  if (divisor->getType()->isVectorTy()) return out;
  for_each_part(out, [&](Value*& part) { part = splat(f, part, width); });
  return out;
}

Value* divide(FunctionEmitter& f, Value* x, const UniformDivisor& by) {
  llvm::IRBuilder<>& b = f.b;
  llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  const auto multiply_add = [&](Value* p, Value* q, Value* sum) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {p, q, sum});
  };
  Value* scaled = b.CreateFMul(x, by.scale);
  Value* quotient = b.CreateFMul(scaled, by.reciprocal);
  Value* rest = multiply_add(b.CreateFNeg(quotient), by.exact_divisor, scaled);
  Value* corrected = multiply_add(rest, by.exact_reciprocal, quotient);
  return b.CreateSelect(b.CreateFCmpONE(corrected, number_like(corrected, 0)), corrected, quotient);
}

}  // namespace inlay::llvm_backend
