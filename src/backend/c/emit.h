#pragma once
#include "backend/c/backend.h"
#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay::c_backend {

/// One C99 translation unit. Throws nothing: what it cannot say it calls.
Source write_source(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const SourceOptions& options);

}  // namespace inlay::c_backend
