#pragma once
// How the points of a loop are cut into blocks, which several threads may run at the same time.
//
// How many blocks there are and where they begin depends on sizes alone, and they are merged in their order, so a sum
// is the same number on one thread and on any other number of them. Work that is too short for two threads is one
// block.
#include <optional>

#include "backend/llvm/stage_plan.h"
#include "kernel/blocks.h"

namespace inlay::llvm_backend {

using kernel::BlockFold;
using kernel::BlockRule;

struct Cut {
  int level = 0;  // of a stage: the loop that opens there; of a kernel: the outer axis
  Dim extent;     // of the loop that is cut
  Dim cost;       // of all blocks, in the unit of ScalarOpFacts::cost
  int64_t cost_of_block = 0, most_blocks = 0;
  int64_t step = 1;  // a block begins at a multiple of it
  /// The loop sums floats by the tree of emit_turns.cpp: a block is a branch of that, so the sum is the same as of one
  /// block. Its points are `step` times a power of 2; those behind the last whole `left_over_of` come behind all
  /// blocks.
  bool keeps_tree = false;
  int64_t left_over_of = 1;
  std::vector<BlockFold> folds;
  bool in_workspace = false;  // the states of the blocks lie in the kernel's workspace
  int64_t lane_bytes = 0;     // then: so much of a block's states its sums by lanes have at most
};

/// Of a stage of a kernel without outer loops; none: it stays one block.
std::optional<Cut> cut_of(const kernel::KernelProgram& program, const kernel::Kernel& kernel,
                          const kernel::Stage& stage, const StagePlan& plan, const BlockRule& rule);
/// Of the outer loops of a kernel, with all of its stages.
std::optional<Cut> cut_of(const kernel::KernelProgram& program, const kernel::Kernel& kernel, const BlockRule& rule);

}  // namespace inlay::llvm_backend
