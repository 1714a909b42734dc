#pragma once
// The one function that libinlay_jit.so exports.
//
// Both sides are built together, so structs cross by address; exceptions do not.
#include "backend/llvm/backend.h"

namespace inlay::llvm_backend {

struct JitFailure {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

/// A number that changes with the structs that cross: a library of another build is refused, not trusted.
constexpr uint64_t jit_layout() {
  uint64_t hash = 0;
  for (uint64_t size :
       {sizeof(kernel::KernelProgram), sizeof(kernel::Buffer), sizeof(kernel::Kernel), sizeof(kernel::Stage),
        sizeof(kernel::Statement), sizeof(kernel::Step), sizeof(kernel::Site), sizeof(memory::MemoryPlan),
        sizeof(memory::Sharing), sizeof(memory::SharedStorage), sizeof(EmitOptions), sizeof(EmitResult)}) {
    hash = hash * 1099511628211u + size;
  }
  return hash;
}

/// 0: `result` is filled. Otherwise `failure` is.
using JitEmit = int (*)(uint64_t layout, const kernel::KernelProgram* program, const memory::MemoryPlan* plan,
                        const EmitOptions* options, EmitResult* result, JitFailure* failure);

inline constexpr const char* kJitEmitName = "inlay_jit_emit";

}  // namespace inlay::llvm_backend
