#pragma once
// Questions about a step of any kind.
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Returns the name that reasons and tables use: "@k1", "matmul", "a copy", "the size n", "a check of sizes".
std::string step_name(const KernelProgram& program, const Step& step);

/// Can it end the call?
bool can_fail(const Stage& stage);
bool can_fail(const LibraryCall& call);
bool can_fail(const Step& step);

/// May it move within its body as far as dependences allow? Steps that bind or check a size, have effects outside the
/// program, or are the border of a body stay in place, and nothing moves past them.
inline bool moves(const Step& step) {
  return std::holds_alternative<Kernel>(step) || std::holds_alternative<LibraryCall>(step) ||
         std::holds_alternative<Copy>(step);
}

/// Returns the checks of sizes that come before all other steps.
std::vector<const SizeCheck*> entry_checks(const KernelProgram& program);

/// Returns the one start that the kernel gives to a buffer with this root before its first stage; null if it keeps the
/// contents.
const Start* start_of(const KernelProgram& program, const Kernel& kernel, BufferId root);

}  // namespace inlay::kernel
