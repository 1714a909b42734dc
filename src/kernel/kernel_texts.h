#pragma once
// The texts of all kernels of a program. A name in a text is free of those of all other buffers, so handing names out
// takes time in proportion to the program: once for all kernels, not once for each.
#include <string>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Each kernel as a program prints it, but not indented, by step; empty for other steps.
IdMap<StepId, std::string> print_kernels(const KernelProgram& program);

}  // namespace inlay::kernel
