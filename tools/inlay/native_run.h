#pragma once
// Machine code on tensors: the runtime's door for the tool and for tests.
#include <span>
#include <vector>

#include "memory/plan.h"
#include "oracle/reference/evaluate.h"
#include "runtime/executable.h"

namespace inlay::tool {

/// Outputs of one call. They and the arguments lie between guard bytes, and the arguments are compared with what they
/// were. `threads`: on how many; 0: as the function has it.
std::vector<reference::Tensor> run_native(const runtime::Executable& executable,
                                          std::span<const reference::Tensor> inputs,
                                          std::span<const reference::HostFunction> host_functions, int threads = 0);

/// The same in memory of its own, which begins as ones: the arena lies between guards, and where its layout is the
/// caller's (sizes are symbols), so does each storage, and none takes the place of another. What is read without being
/// written, and what is written beside, is found out.
std::vector<reference::Tensor> run_guarded(const runtime::Executable& executable, const memory::Sharing& sharing,
                                           std::span<const reference::Tensor> inputs,
                                           std::span<const reference::HostFunction> host_functions);

}  // namespace inlay::tool
