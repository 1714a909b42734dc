#pragma once
#include "backend/llvm/backend.h"

namespace inlay::llvm_backend {

/// What `emit` does, inside the JIT library.
EmitResult emit_in_jit(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                       const EmitOptions& options);

}  // namespace inlay::llvm_backend
