#pragma once
// What this backend decides about the loop nest of a stage, before any instruction exists: how many lanes, how many of
// them at a time, in which order the points are passed where that does not show.
#include <optional>

#include "kernel/nest.h"

namespace inlay::llvm_backend {

/// The innermost loop runs in vectors. Where memory is read or written across its rows, as in a transpose, the vector
/// axis is passed in blocks: the lines that one block touches are used up by the loop around it before they leave the
/// cache.
struct StagePlan : kernel::LoopNest {
  int width = 1;            // lanes
  int unroll = 1;           // vectors at a time
  bool by_turns = false;    // it sums floats: emit_turns.cpp
  bool by_columns = false;  // it folds rows, and each lane has a column: emit_columns.cpp. The folds accumulate then,
                            // though their elements vary with the vector axis: they are opened innermost
  std::vector<bool> of_column;  // by statement: it varies in the vector loop, is the same in each pass of the loop
                                // around that, and can be made before the first
  bool short_rows = false;      // the innermost loop folds rows that may be short, and nothing else: emit_rows.cpp
  bool points_wait = false;     // for the points before them, so it is one vector
  int64_t page = 0;             // points from one of them to the next where there are enough; 0: they stay together
  int64_t pages_from = 0;       // points that are enough
  /// The store whose vectors shall begin where lines of the cache do: points before the first line are passed by
  /// themselves.
  std::optional<std::size_t> aligned_store;
  int block = 0;         // points of the vector axis in a block, where a row has too many lines; 0: all at once
  int block_level = -1;  // the loop over blocks is opened here, around loops[block_level]
  Dim block_step = 0;    // bytes from one of these lines to the next

  static constexpr int kVectorsOfBlock = 64, kQuarters = 4;  // of a sum by turns: a lane adds up 16 numbers, as NumPy
                                                             // does
  static constexpr int kWorthAligning = 1024;                // points
  static constexpr int64_t kWorthPages = 1 << 22;  // bytes of an operand: it comes from memory, not from a cache
  static constexpr int kOneBlock = 128;            // the lines of so many rows stay in the first cache by themselves,
  static constexpr int64_t kOneBlockBytes = 1 << 15;  // unless they meet in fewer places: rows * the greatest power of
                                                      // 2 (of a page at most) that divides block_step are more

  /// A stage that folds rows makes what is of a column once, before it passes them.
  bool is_made_before_rows(std::size_t i) const { return by_columns && of_column[i]; }
  /// Of a tile no more than that.
  const Dim& vector_extent() const { return loops.back().extent; }
  int vector_axis() const { return loops.empty() ? -1 : loops.back().axis; }
  bool vectors_pass_tile() const { return !loops.empty() && loops.back().is_tile; }
};

StagePlan plan_stage(const kernel::KernelProgram& program, const kernel::Kernel& kernel, const kernel::Stage& stage,
                     int vector_bytes);

}  // namespace inlay::llvm_backend
