#include "backend/llvm/types.h"

#include "support/error.h"

namespace inlay::llvm_backend {

llvm::Type* memory_type(llvm::IRBuilder<>& b, DType dtype) {
  llvm::LLVMContext& context = b.getContext();
  switch (dtype) {
    case DType::boolean:
    case DType::i8:
    case DType::u8: return llvm::Type::getInt8Ty(context);
    case DType::i16:
    case DType::u16:
    case DType::f16:  // bits: there is no arithmetic on these, and none must touch a NaN on its way
    case DType::bf16: return llvm::Type::getInt16Ty(context);
    case DType::i32:
    case DType::u32: return llvm::Type::getInt32Ty(context);
    case DType::i64:
    case DType::u64: return llvm::Type::getInt64Ty(context);
    case DType::f32: return llvm::Type::getFloatTy(context);
    case DType::f64: return llvm::Type::getDoubleTy(context);
    case DType::c64:
    case DType::c128: return complex_type(memory_type(b, real_of(dtype)));
    case DType::opaque: break;
  }
  throw Error(ErrorCode::unsupported, {}, str("a loop over elements of dtype ", dtype_name(dtype)));
}

llvm::Type* register_type(llvm::IRBuilder<>& b, DType dtype, int width) {
  if (is_complex(dtype)) return complex_type(register_type(b, real_of(dtype), width));
  llvm::Type* one = dtype == DType::boolean ? llvm::Type::getInt1Ty(b.getContext()) : memory_type(b, dtype);
  return width == 1 ? one : llvm::FixedVectorType::get(one, width);
}

llvm::Constant* constant(llvm::IRBuilder<>& b, const Literal& literal) {
  llvm::Type* type = register_type(b, literal.dtype);
  if (is_complex(literal.dtype)) {
    llvm::Type* part = register_type(b, real_of(literal.dtype));
    return llvm::ConstantStruct::get(
        llvm::cast<llvm::StructType>(type),
        {llvm::ConstantFP::get(part, literal.f), llvm::ConstantFP::get(part, literal.imaginary)});
  }
  if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, literal.f);
  if (is_float(literal.dtype)) {
    llvm::APFloat value(literal.f);
    bool inexact = false;
    value.convert(literal.dtype == DType::f16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat(),
                  llvm::APFloat::rmNearestTiesToEven, &inexact);
    return llvm::ConstantInt::get(type, value.bitcastToAPInt());
  }
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(literal.i), /*IsSigned=*/true);
}

llvm::Constant* memory_constant(llvm::IRBuilder<>& b, const Literal& literal) {
  if (literal.dtype == DType::boolean) return llvm::ConstantInt::get(memory_type(b, DType::boolean), literal.i != 0);
  return constant(b, literal);
}

Value* to_memory(llvm::IRBuilder<>& b, Value* value, DType dtype) {
  if (dtype != DType::boolean) return value;
  return b.CreateZExt(value, value->getType()->getWithNewType(memory_type(b, DType::boolean)));
}

Value* from_memory(llvm::IRBuilder<>& b, Value* value, DType dtype) {
  if (dtype != DType::boolean) return value;
  return b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

}  // namespace inlay::llvm_backend
