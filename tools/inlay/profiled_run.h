#pragma once
// `inlay run --profile`: calls of machine code that has clocks around its steps.
#include <span>
#include <string>

#include "compiler/compile.h"
#include "explain/profile.h"
#include "oracle/reference/evaluate.h"

namespace inlay::tool {

/// Calls a program that was compiled with clocks (Options::time_steps), as often as a profile takes. Each call has its
/// results in new memory, as the calls of other doors, and its own copies of what it may overwrite.
explain::Profile run_profiled(const Program& program, std::string name, std::span<const reference::Tensor> inputs,
                              std::span<const reference::HostFunction> host_functions);

}  // namespace inlay::tool
