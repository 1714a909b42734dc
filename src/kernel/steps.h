#pragma once
// What is asked of a step, whatever kind it is.
#include <string>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// What reasons and tables call it: "@k1", "matmul", "a copy", "the size n", "a check of sizes".
std::string step_name(const KernelProgram& program, const Step& step);

/// Can it end the call?
bool can_fail(const Stage& stage);
bool can_fail(const LibraryCall& call);
bool can_fail(const Step& step);

}  // namespace inlay::kernel
