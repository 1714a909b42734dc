#pragma once
// Verifies a KernelProgram: returns everything wrong with it, nothing if it is sound.
//
// Runs after fuse, and after any pass that makes or changes programs. It trusts nothing about how the program was made:
// it checks the contract of kernel.h from the statements alone. Where sizes are unknown it rejects writes that it
// cannot prove correct (they could be lost silently), and accepts bounds that it cannot refute (the evaluator checks
// each access).
#include <vector>

#include "kernel/kernel.h"
#include "support/error.h"

namespace inlay::kernel {

/// Where a program's sizes come from. outside: it is a body, and the enclosing program knows them.
enum class SizesFrom : uint8_t { parameters, outside };

std::vector<Diagnostic> verify(const KernelProgram& program, SizesFrom sizes = SizesFrom::parameters);

}  // namespace inlay::kernel
