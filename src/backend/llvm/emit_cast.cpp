#include <cstdint>

#include "backend/llvm/cpu.h"
#include "backend/llvm/scalar.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

/// Of constants, with the minimum integer for what is none: LLVM would fold a conversion out of range to poison.
int64_t truncate(double value) { return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MIN; }

/// To i64, truncating.
Value* float_to_i64(FunctionEmitter& f, Value* value) {
  llvm::Type* type = value->getType()->getWithNewType(f.b.getInt64Ty());
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    const llvm::Constant* one = width_of(value) > 1 ? constant->getSplatValue() : constant;
    if (const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(one)) {
      llvm::APFloat wide = number->getValueAPF();
      bool inexact = false;
      wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      const int64_t result = truncate(wide.convertToDouble());
      return llvm::ConstantInt::get(type, static_cast<uint64_t>(result), /*IsSigned=*/true);
    }
  }
  // Poison out of range, says LLVM; freezing makes it some number, which is the minimum integer by the instruction of
  // x86-64; that of aarch64 gives the nearest integer, and 0 for nan.
  Value* whole = f.b.CreateFreeze(f.b.CreateFPToSI(value, type));
  if (architecture() == "x86-64") return whole;
  Value* fits = f.b.CreateFCmpOLT(f.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value), number_like(value, 0x1p63));
  return f.b.CreateSelect(fits, whole, llvm::ConstantInt::getSigned(type, INT64_MIN));
}

Value* float_to_u64(FunctionEmitter& f, Value* value) {
  // Below 2^63 as signed (so negative numbers wrap, as C compilers have it), above after taking 2^63 away.
  llvm::IRBuilder<>& b = f.b;
  Value* half = number_like(value, 0x1p63);
  Value* low = float_to_i64(f, value);
  Value* high = b.CreateXor(float_to_i64(f, b.CreateFSub(value, half)),
                            llvm::ConstantInt::get(low->getType(), uint64_t{1} << 63));
  Value* is_high = b.CreateAnd(b.CreateFCmpOGE(value, half), b.CreateFCmpOLT(value, number_like(value, 0x1p64)));
  return b.CreateSelect(is_high, high, low);
}

/// Narrower integers are cut from i64: 300.0 is 44 as u8, and -1.7 is 255.
Value* float_to_integer(FunctionEmitter& f, Value* value, DType to) {
  if (to == DType::u64) return float_to_u64(f, value);
  return f.b.CreateTrunc(float_to_i64(f, value), value->getType()->getWithNewType(register_type(f.b, to)));
}

Value* widen_bf16(FunctionEmitter& f, Value* bits) {
  llvm::IRBuilder<>& b = f.b;
  llvm::Type* wide = bits->getType()->getWithNewType(b.getInt32Ty());
  Value* upper = b.CreateShl(b.CreateZExt(bits, wide), llvm::ConstantInt::get(wide, 16));
  return b.CreateBitCast(upper, wide->getWithNewType(b.getFloatTy()));
}

/// To the nearest, to even in the middle; a NaN stays one.
Value* narrow_to_bf16(FunctionEmitter& f, Value* value) {
  llvm::IRBuilder<>& b = f.b;
  llvm::Type* wide = value->getType()->getWithNewType(b.getInt32Ty());
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(wide, n); };
  Value* bits = b.CreateBitCast(value, wide);
  Value* last = b.CreateAnd(b.CreateLShr(bits, number(16)), number(1));
  Value* rounded = b.CreateAdd(bits, b.CreateAdd(last, number(0x7fff)));
  Value* quiet = b.CreateOr(bits, number(0x400000));
  Value* kept = b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded);
  return b.CreateTrunc(b.CreateLShr(kept, number(16)), value->getType()->getWithNewType(b.getInt16Ty()));
}

Value* widen_f16(FunctionEmitter& f, Value* bits) {
  Value* half = f.b.CreateBitCast(bits, bits->getType()->getWithNewType(f.b.getHalfTy()));
  return f.b.CreateFPExt(half, bits->getType()->getWithNewType(f.b.getFloatTy()));
}

/// To f32 with an odd last digit where it is not exact, so that rounding again rounds as if it were once.
Value* narrow_to_odd_f32(FunctionEmitter& f, Value* value) {
  llvm::IRBuilder<>& b = f.b;
  llvm::Type* type = value->getType();
  Value* nearest = b.CreateFPTrunc(value, type->getWithNewType(b.getFloatTy()));
  Value* back = b.CreateFPExt(nearest, type);
  Value* bits = b.CreateBitCast(nearest, type->getWithNewType(b.getInt32Ty()));
  Value* one = llvm::ConstantInt::get(bits->getType(), 1);
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, one), llvm::Constant::getNullValue(bits->getType()));
  const auto magnitude = [&](Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); };
  Value* too_large = b.CreateFCmpOGT(magnitude(back), magnitude(value));
  Value* moved = b.CreateSelect(too_large, b.CreateSub(bits, one), b.CreateAdd(bits, one));
  Value* odd = b.CreateSelect(b.CreateAnd(even, b.CreateFCmpONE(back, value)), moved, bits);
  return b.CreateBitCast(odd, nearest->getType());
}

Value* narrow_to_f16(FunctionEmitter& f, Value* value) {
  Value* half = f.b.CreateFPTrunc(value, value->getType()->getWithNewType(f.b.getHalfTy()));
  return f.b.CreateBitCast(half, value->getType()->getWithNewType(f.b.getInt16Ty()));
}

}  // namespace

/// f16 and bf16 go through f32, both ways.
Value* emit_cast(FunctionEmitter& f, Value* value, DType from, DType to) {
  if (from == to) return value;
  if (is_complex(from)) {
    INLAY_CHECK(is_complex(to), "a complex number is cast to ", dtype_name(to));
    return for_each_part(f, value, [&](Value* part) { return emit_cast(f, part, real_of(from), real_of(to)); });
  }
  if (is_complex(to)) {
    Value* part = emit_cast(f, value, from, real_of(to));
    return complex_of(f, part, llvm::Constant::getNullValue(part->getType()));
  }
  if (is_half(from)) {
    return emit_cast(f, from == DType::f16 ? widen_f16(f, value) : widen_bf16(f, value), DType::f32, to);
  }
  if (is_half(to)) {
    const bool twice = from == DType::f64 && to == DType::f16;
    value = twice ? narrow_to_odd_f32(f, value) : emit_cast(f, value, from, DType::f32);
    return to == DType::f16 ? narrow_to_f16(f, value) : narrow_to_bf16(f, value);
  }
  llvm::IRBuilder<>& b = f.b;
  llvm::Type* type = value->getType()->getWithNewType(register_type(b, to));
  const bool from_float = is_float(from), to_float = is_float(to);
  if (to == DType::boolean) {
    llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
    return from_float ? b.CreateFCmpUNE(value, zero) : b.CreateICmpNE(value, zero);
  }
  if (from_float && to_float) return b.CreateFPCast(value, type);
  if (from_float) return float_to_integer(f, value, to);
  const bool is_signed = is_signed_integer(from);
  if (to_float) return is_signed ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  return b.CreateIntCast(value, type, is_signed);
}

Value* emit_small_cast(FunctionEmitter& f, Value* value, DType to) {
  llvm::Type* type = value->getType()->getWithNewType(f.b.getInt32Ty());
  Value* whole = f.b.CreateFreeze(f.b.CreateFPToSI(value, type));
  return f.b.CreateSExtOrTrunc(whole, value->getType()->getWithNewType(register_type(f.b, to)));
}

}  // namespace inlay::llvm_backend
