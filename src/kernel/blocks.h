#pragma once
// What the points of a loop fold if blocks of them, that follow each other, run at the same time: each block folds into
// states of its own, and those are merged in the order of the blocks.
#include <optional>
#include <span>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// What all blocks fold into the same elements: each has states of its own, as many as the buffers have elements.
struct BlockFold {
  Fold fold = Fold::none;
  std::vector<BufferId> buffers;  // roots, by state
  std::vector<DType> dtypes;      // likewise
  int64_t elements = 1;
  bool is_one_sum = false;  // by one statement, and without an index
  bool by_index = false;    // every statement finds its element through an index

  static constexpr int kMostLanes = 8;
  int width() const;                       // states that are merged at a time
  int64_t pitch() const;                   // elements, and what fills the last vector
  int64_t bytes(std::size_t state) const;  // of a block's states, whole lines of the cache
  int64_t bytes() const;
};

/// What a backend cuts.
struct BlockRule {
  int64_t cost = 0;         // of a block, at least (ScalarOpFacts::cost); 0: nothing is cut
  bool for_threads = true;  // else only what shows in the results: for one thread other loops are shorter as they are
  /// So much that a block adds through an index lies on the stack, more in the kernel's workspace, which the plan
  /// holds.
  int64_t table_bytes = 2048;

  bool needs_workspace(std::span<const BlockFold> folds) const;
  /// States in a workspace are opened and merged once for each block: a small part of what it does.
  int64_t cost_of_block(std::span<const BlockFold> folds) const;
  int64_t most_blocks(std::span<const BlockFold> folds) const;
  /// What a kernel's workspace is for blocks of these folds, where all of its points cost that much: as many states as
  /// there are at a time if one block runs after the other (InlayBlocks). Nothing, if there is one block.
  Dim workspace_bytes(std::span<const BlockFold> folds, int64_t lane_bytes, const Dim& cost_of_all) const;
};

/// What blocks of the points of these axes fold in these stages; none: two of them would meet elsewhere too, or they
/// fold into more than they can have for themselves.
std::optional<std::vector<BlockFold>> folds_of_blocks(const KernelProgram& program, const Kernel& kernel,
                                                      std::span<const Stage> stages, std::vector<int> axes);

/// Are the results other bytes than without blocks? Of integers they are not. (The maximum of 0.0 and -0.0 is either.)
bool shows(const BlockFold& fold);

/// Of all points of these stages, in the unit of ScalarOpFacts::cost.
Dim cost_of(const Kernel& kernel, std::span<const Stage> stages);

/// The outer axis whose points are cut, with all stages of each; none: the kernel has no outer loop, and its stages are
/// cut each by itself.
std::optional<int> outer_axis_to_cut(const Kernel& kernel);

/// A loop's sums of floats by lanes, which each block has as well (cut_plan.h): bytes at most.
int64_t most_lane_bytes(const Stage& stage);

}  // namespace inlay::kernel
