#pragma once
// The one function that libinlay_jit.so exports.
//
// Both sides are built together, so structs cross by address; exceptions do not. A library of another build is refused,
// not trusted.
#include "backend/llvm/backend.h"
#include "jit_build.h"  // kJitBuild, a hash of all headers that the two share

namespace inlay::llvm_backend {

struct JitFailure {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string help;  // "": none
};

/// 0: `result` is filled. Otherwise `failure` is.
using JitEmit = int (*)(uint64_t build, const kernel::KernelProgram* program, const memory::MemoryPlan* plan,
                        const EmitOptions* options, EmitResult* result, JitFailure* failure);

inline constexpr const char* kJitEmitName = "inlay_jit_emit";

}  // namespace inlay::llvm_backend
