#pragma once
// What is asked of a step, whatever kind it is.
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// What reasons and tables call it: "@k1", "matmul", "a copy", "the size n", "a check of sizes".
std::string step_name(const KernelProgram& program, const Step& step);

/// Can it end the call?
bool can_fail(const Stage& stage);
bool can_fail(const LibraryCall& call);
bool can_fail(const Step& step);

/// May it stand elsewhere in its body, as far as it waits for nothing? What binds or checks a size, does what nobody
/// sees, or is the border of a body stays, and nothing moves past it.
inline bool moves(const Step& step) {
  return std::holds_alternative<Kernel>(step) || std::holds_alternative<LibraryCall>(step) ||
         std::holds_alternative<Copy>(step);
}

/// The checks of sizes that come before all other steps.
std::vector<const SizeCheck*> entry_checks(const KernelProgram& program);

/// What the kernel puts into a buffer, of which this is the root, before its first stage, which is one thing; none: it
/// keeps what is there.
const Start* start_of(const KernelProgram& program, const Kernel& kernel, BufferId root);

}  // namespace inlay::kernel
