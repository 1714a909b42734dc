#pragma once
// May a kernel's output take the bytes of one of its operands?
//
// Only if no point other than the one that writes an element reads it at or after the write. That is decided from
// access maps; the order of a loop's points is never the argument. What stages may rely on: a stage ends before the
// next begins (at one point of the outer axes), and the statements of one point run in order.
#include <string>

#include "kernel/kernel.h"

namespace inlay::memory {

/// Empty: it may. Otherwise why not, as a clause about the operand: "is read where it is overwritten".
/// Both are roots; the output has the operand's number of bytes. A `copy` start of the operand itself is no obstacle,
/// since then it moves nothing.
std::string why_not_overwrite(const kernel::KernelProgram& program, const kernel::Kernel& kernel,
                              kernel::BufferId operand, kernel::BufferId output);

}  // namespace inlay::memory
