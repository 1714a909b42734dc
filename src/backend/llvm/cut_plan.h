#pragma once
// How the points of a loop are cut into blocks, which several threads may run at the same time.
//
// How many blocks there are and where they begin depends on sizes alone, and they are merged in their order, so a sum
// is the same number on one thread and on any other number of them. Work that is too short for two threads is one
// block.
#include <optional>

#include "backend/llvm/stage_plan.h"

namespace inlay::llvm_backend {

/// What all blocks fold into the same elements: each block has states of its own, as many as the buffers have elements.
struct BlockFold {
  Fold fold = Fold::none;
  std::vector<kernel::BufferId> buffers;  // roots, by state
  std::vector<DType> dtypes;              // likewise
  int64_t elements = 1;
  bool is_one_sum = false;  // by one statement, and without an index
};

struct Cut {
  int level = 0;  // of a stage: the loop that opens there; of a kernel: the outer axis
  Dim extent;     // of the loop that is cut
  Dim cost;       // of all blocks, in the unit of ScalarOpFacts::cost
  int64_t cost_of_block = 0;
  int64_t step = 1;  // a block begins at a multiple of it
  /// The loop sums floats by the tree of emit_turns.cpp: a block is a branch of that, so the sum is the same as of one
  /// block. Its points are `step` times a power of 2; those behind the last whole `left_over_of` come behind all
  /// blocks.
  bool keeps_tree = false;
  int64_t left_over_of = 1;
  std::vector<BlockFold> folds;
};

/// What is cut.
struct CutRule {
  int64_t cost_of_block = 0;  // what a block has at least
  bool for_threads = true;    // else only what shows in the results: for one thread other loops are shorter as they are
};

/// Of a stage of a kernel without outer loops; none: it stays one block.
std::optional<Cut> cut_of(const kernel::KernelProgram& program, const kernel::Kernel& kernel,
                          const kernel::Stage& stage, const StagePlan& plan, const CutRule& rule);
/// Of the outer loops of a kernel, with all of its stages.
std::optional<Cut> cut_of(const kernel::KernelProgram& program, const kernel::Kernel& kernel, const CutRule& rule);

}  // namespace inlay::llvm_backend
