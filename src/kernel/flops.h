#pragma once
// How many operations on floating-point numbers a step takes, by what its statements say.
//
// Each op whose result is a float counts once, an exp as an add: what is counted is the program, not the instructions
// that a backend makes of it, so the number is the same for every backend and CPU. Of complex numbers a sum counts 2
// and a product 6. What only chooses or takes apart (select, real, imag, complex, casts) counts nothing, nor does what
// makes integers or bools.
#include <optional>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Of all stages. An op runs in the innermost loop in which something that it reads changes: backends move it out of
/// those within. What folds, or accumulates in memory, does so at every point.
Dim flops(const Kernel& kernel);

/// By the usual counts of dense linear algebra. Nothing where they depend on elements, as those of eigenvalues do.
std::optional<Dim> flops(const KernelProgram& program, const LibraryCall& call);

}  // namespace inlay::kernel
