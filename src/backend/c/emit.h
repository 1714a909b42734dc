#pragma once
#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay::c_backend {

inline constexpr const char* kEntry = "inlay_entry";

/// One C99 translation unit with the function kEntry. Throws nothing: what it cannot say it calls.
std::string source_of(const kernel::KernelProgram& program, const memory::MemoryPlan& plan);

}  // namespace inlay::c_backend
