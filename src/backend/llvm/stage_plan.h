#pragma once
// How the loops of a stage are laid out, before any instruction exists: which axes are loops, what is the same for a
// whole loop and so computed outside of it, how many lanes, how many of them at a time.
//
// A *level* counts loops from the outside: level 0 is before the first, level k inside the k-th. A statement belongs to
// the level of the innermost loop that it varies with; loads and ops of an outer level are computed there, once.
#include <optional>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::llvm_backend {

struct StageStatement {
  bool live = true;  // false: what it makes is used by nothing that is left to do
  int level = 0;
  kernel::LinearMap place;    // of load, store and fold
  bool index_varies = false;  // is a subscript loaded that differs from lane to lane?
  bool accumulates = false;   // into a register, over loops: `opened` is the level outside of the outermost of them;
                              // of a stage by columns over rows, where `opened` is the innermost
  int opened = 0;
};

/// Axes that every statement passes in row-major order are one loop: a short last axis then still fills the vectors.
///
/// Where memory is read or written across its rows, as in a transpose, the vector axis is passed in blocks: the lines
/// that one block touches are used up by the loop around it before they leave the cache.
struct StagePlan {
  int first_axis = 0;        // axes before it are the kernel's outer ones
  std::vector<int> loops;    // the stage's axes of other than one point, outermost first; the last runs in vectors
  std::vector<Dim> extents;  // of `loops`. An axis that is merged into the next is no loop, and the next is longer.
  int tiled_axis = -1;       // the kernel's outer axis of which this stage passes a tile, as one of `loops`
  int width = 1;             // lanes
  int unroll = 1;            // vectors at a time
  bool by_turns = false;     // it sums floats: emit_turns.cpp
  bool by_columns = false;   // it folds rows, and each lane has a column: emit_columns.cpp
  bool points_wait = false;  // for the points before them, so it is one vector
  int64_t page = 0;          // points from one of them to the next where there are enough; 0: they stay together
  int64_t pages_from = 0;    // points that are enough
  /// The store whose vectors shall begin where lines of the cache do: points before the first line are passed by
  /// themselves.
  std::optional<std::size_t> aligned_store;
  int block = 0;         // points of the vector axis in a block, where it has over kOneBlock; 0: all at once
  int block_level = -1;  // the loop over blocks is opened here, around loops[block_level]
  std::vector<StageStatement> statements;
  std::vector<int> register_levels;
  std::vector<DType> register_dtypes;

  static constexpr int kWorthAligning = 1024;      // points
  static constexpr int64_t kWorthPages = 1 << 22;  // bytes of an operand: it comes from memory, not from a cache
  static constexpr int kOneBlock = 128;            // the lines of so many rows stay in the first cache by themselves

  int innermost() const { return static_cast<int>(loops.size()); }
  /// Of `tiled_axis` no more than a tile.
  const Dim& vector_extent() const { return extents.back(); }
  Dim num_points() const { return product(extents); }
  int vector_axis() const { return loops.empty() ? -1 : loops.back(); }
  bool vectors_pass_tile() const { return tiled_axis >= 0 && vector_axis() == tiled_axis; }
  bool varies(kernel::RegisterId r) const { return register_levels[r.index] == innermost(); }
};

StagePlan plan_stage(const kernel::KernelProgram& program, const kernel::Kernel& kernel, const kernel::Stage& stage,
                     int vector_bytes);

}  // namespace inlay::llvm_backend
