#pragma once
// The kernel evaluator on the very bytes that memory planned, with guard bytes around each block, and with nothing left
// in bytes whose time is over.
#include <memory>
#include <span>
#include <vector>

#include "memory/plan.h"
#include "oracle/kernels/evaluate.h"
#include "oracle/reference/evaluate.h"

namespace inlay::tool {

using reference::Tensor;

/// The program on memory of its own for each buffer.
std::vector<Tensor> run_apart(const kernel::KernelProgram& program, std::span<const Tensor> inputs,
                              std::span<const reference::HostFunction> host_functions);

/// The program on planned memory. Verifies the plan for these sizes first.
std::vector<Tensor> run_planned(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                                memory::Planner planner, std::span<const Tensor> inputs,
                                std::span<const reference::HostFunction> host_functions);

}  // namespace inlay::tool
