#pragma once
// Machine code on tensors: the runtime's door for the tool and for tests.
#include <span>
#include <vector>

#include "reference/evaluate.h"
#include "runtime/executable.h"

namespace inlay::tool {

/// Outputs of one call. They are written between guard bytes, and the arguments are compared with what they were.
std::vector<reference::Tensor> run_native(const runtime::Executable& executable,
                                          std::span<const reference::Tensor> inputs,
                                          std::span<const reference::HostFunction> host_functions);

}  // namespace inlay::tool
