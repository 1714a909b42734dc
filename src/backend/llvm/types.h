#pragma once
// Elements in memory and in registers.
#include <llvm/IR/IRBuilder.h>

#include "ops/literal.h"

namespace inlay::llvm_backend {

using llvm::Value;

inline llvm::StructType* complex_type(llvm::Type* part) { return llvm::StructType::get(part, part); }
llvm::Type* memory_type(llvm::IRBuilder<>& b, DType dtype);                   // bool is a byte
llvm::Type* register_type(llvm::IRBuilder<>& b, DType dtype, int width = 1);  // bool is a bit
llvm::Constant* constant(llvm::IRBuilder<>& b, const Literal& literal);       // of register type
llvm::Constant* memory_constant(llvm::IRBuilder<>& b, const Literal& literal);
Value* to_memory(llvm::IRBuilder<>& b, Value* value, DType dtype);  // register type -> memory type, any width
Value* from_memory(llvm::IRBuilder<>& b, Value* value, DType dtype);

}  // namespace inlay::llvm_backend
