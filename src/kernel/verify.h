#pragma once
// Everything wrong with a KernelProgram; empty when it is sound.
//
// Runs after fuse, and after whatever else makes or changes programs. It asks nothing of who made the program: it
// checks the contract of kernel.h from the statements alone. Where sizes are unknown it rejects what it cannot prove of
// writes (they could be lost without a trace), and accepts bounds that it cannot refute (the evaluator checks each
// access).
#include <vector>

#include "kernel/kernel.h"
#include "support/error.h"

namespace inlay::kernel {

/// Where a program's sizes come from. outside: it is a body by itself, and the program around it knows them.
enum class SizesFrom : uint8_t { parameters, outside };

std::vector<Diagnostic> verify(const KernelProgram& program, SizesFrom sizes = SizesFrom::parameters);

}  // namespace inlay::kernel
