#pragma once
// The front half of the route, for judges and counts: everything before machine code.
#include "ir/graph.h"
#include "kernel/kernel.h"

namespace inlay::tool {

enum class Fusing : uint8_t { all, none };

struct JudgeOptions {
  Fusing fusing = Fusing::all;
};

kernel::KernelProgram lower(const Graph& graph, const JudgeOptions& options);

}  // namespace inlay::tool
