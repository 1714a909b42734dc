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

/// 0: `result` is filled. Otherwise `failure` is.
using JitEmit = int (*)(const kernel::KernelProgram* program, const memory::MemoryPlan* plan,
                        const EmitOptions* options, EmitResult* result, JitFailure* failure);

inline constexpr const char* kJitEmitName = "inlay_jit_emit";

}  // namespace inlay::llvm_backend
