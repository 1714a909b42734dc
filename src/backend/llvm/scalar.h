#pragma once
// Scalar ops on values of register type: one element or a vector of them, whatever the width.
#include "backend/llvm/complex.h"

namespace inlay::llvm_backend {

/// `op` on operands of `dtype` (select: of its branches), all of one width. `active`: which lanes count (null: all);
/// the others may hold anything.
Value* emit_op(FunctionEmitter& f, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> operands, Value* active);

/// NumPy's conversion. Never poison: out of range a float becomes what the instruction gives (the minimum integer).
Value* emit_cast(FunctionEmitter& f, Value* value, DType from, DType to);

/// Of floats that lie in the range of an i32 once they are truncated (or are NaN, which may give any number). A vector
/// of i32 takes one instruction; one of i64 takes several, or one for each lane.
Value* emit_small_cast(FunctionEmitter& f, Value* value, DType to);

/// What `combine` does; not `set`.
Value* emit_combine(FunctionEmitter& f, Combine combine, DType dtype, Value* left, Value* right);

/// A function of complex numbers: inlay_s_<name> for each lane. The operands are their parts.
Value* emit_complex_math(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands);

/// An elementary function by name: a copy of its vector code, or the C function inlay_s_<name> for each lane.
Value* emit_math(FunctionEmitter& f, const char* name, llvm::ArrayRef<Value*> operands, Value* active);

/// x / d for a vector x and a d that is the same for a whole loop, without the division: see uniform_division.cpp.
struct UniformDivisor {
  Value *divisor, *reciprocal, *minimum;
};
template <class Visit>
void for_each_part(UniformDivisor& divisor, Visit visit) {
  for (Value** part : {&divisor.divisor, &divisor.reciprocal, &divisor.minimum}) visit(*part);
}
/// Once, for vectors of `width`. `divisor`: a number, or a vector of them.
UniformDivisor prepare_divisor(FunctionEmitter& f, Value* divisor, int width);
/// `active`: which lanes count (null: all).
Value* divide(FunctionEmitter& f, Value* x, const UniformDivisor& by, Value* active);

/// Of an element: what is known of any address in a buffer.
inline llvm::Align alignment_of(DType dtype) { return llvm::Align(static_cast<uint64_t>(size_bytes(real_of(dtype)))); }

// ---- widths
inline int width_of(const Value* value) {
  llvm::Type* type = value->getType();
  if (type->isStructTy()) type = type->getStructElementType(0);  // of a complex value: of its parts
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}
inline Value* splat(FunctionEmitter& f, Value* value, int width) {
  if (width == 1) return value;
  return for_each_part(f, value,
                       [&](Value* part) { return f.b.CreateVectorSplat(static_cast<unsigned>(width), part); });
}
/// A constant of the type of `like`.
llvm::Constant* number_like(const Value* like, double value);
/// Is any lane set? Of an i1 or a vector of them.
Value* any_lane(FunctionEmitter& f, Value* lanes);

}  // namespace inlay::llvm_backend
