#pragma once
// The steps of a cond or a loop: those of its bodies, fused by themselves, between markers (Note [Flat regions] in
// kernel/kernel.h).
#include <vector>

#include "fuse/fuse.h"
#include "ir/graph.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

/// A body and the kernels that it became. Its first symbols, `num_given`, are those of the program around it.
struct FusedBody {
  const kernel::KernelProgram& kernels;
  std::size_t num_given = 0;
};

/// `captured`: buffers of the outside, one for each parameter; `results`: where both bodies write theirs.
struct CondBuffers {
  kernel::BufferId condition;
  std::vector<kernel::BufferId> captured, results;
};
std::vector<kernel::Step> cond_steps(kernel::KernelProgram& program, const CondBuffers& buffers, const FusedBody& then,
                                     const FusedBody& otherwise);

/// `carried` hold the initial values before, and the last ones after. `traces` are written row by row.
struct LoopBuffers {
  Dim count;
  std::vector<kernel::BufferId> carried, captured, traces;
  bool has_condition = false;
};
std::vector<kernel::Step> loop_steps(kernel::KernelProgram& program, const LoopBuffers& buffers, const FusedBody& body);

}  // namespace inlay::fuse
