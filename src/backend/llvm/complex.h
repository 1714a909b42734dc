#pragma once
// Complex values: a register is {real part, imaginary part}, an LLVM struct of two scalars or two vectors.
//
// A struct goes through phis, stores and calls as any other value, so what only moves values need not know. In memory
// the parts of an element are neighbours.
#include <llvm/ADT/STLFunctionalExtras.h>

#include "backend/llvm/function.h"

namespace inlay::llvm_backend {

struct Parts {
  Value *re = nullptr, *im = nullptr;
};

inline bool is_complex(const Value* value) { return value->getType()->isStructTy(); }

Parts parts_of(FunctionEmitter& f, Value* value);
Value* complex_of(FunctionEmitter& f, Value* re, Value* im);

/// Of each part of a complex value, or of the value.
Value* for_each_part(FunctionEmitter& f, Value* value, llvm::function_ref<Value*(Value*)> emit);
Value* lane_of(FunctionEmitter& f, Value* lanes, Value* lane);
Value* from_lanes(FunctionEmitter& f, llvm::ArrayRef<Value*> lanes);
/// Lane by lane where `condition` is a vector.
Value* select(FunctionEmitter& f, Value* condition, Value* yes, Value* no);

/// re0 im0 re1 im1 ... <-> {re0 re1 ..., im0 im1 ...}
Value* interleaved(FunctionEmitter& f, Value* value);
Value* deinterleaved(FunctionEmitter& f, Value* lanes);
/// A mask of elements as one of their parts in memory.
Value* twice_each(FunctionEmitter& f, Value* mask);

/// `op` of complex operands of `dtype`, as emit_op.
Value* emit_complex_op(FunctionEmitter& f, ScalarOp op, DType dtype, llvm::ArrayRef<Value*> operands, Value* active);

}  // namespace inlay::llvm_backend
