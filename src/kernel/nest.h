#pragma once
// The loop nest of a stage, before any code exists: which axes are loops, and in which loop each statement is computed.
//
// A *level* counts loops from the outside: level 0 is before the first, level k inside the k-th. A statement belongs to
// the level of the innermost loop that it varies with; loads and ops of an outer level are computed there, once.
#include <functional>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

struct NestLoop {
  int axis = 0;             // the kernel's outer axes first
  std::vector<int> merged;  // axes outside of it that are part of this loop, outermost first
  Dim extent;               // of all of them together; of a tile its maximum
  bool is_tile = false;     // it runs over the points of a tile of the kernel's outer axis
  bool operator==(const NestLoop&) const = default;
  std::vector<int> axes() const {
    std::vector<int> out = merged;
    out.push_back(axis);
    return out;
  }
};

struct NestStatement {
  bool live = true;  // false: no remaining statement uses its result
  int level = 0;
  LinearMap place;            // of load, store and fold; of a check, the index that it looks at
  bool index_varies = false;  // does a loaded subscript vary with the innermost loop?
  int opened = 0;             // of an accumulating statement: the level of its element
  bool accumulates = false;   // in a register or a variable, over the loops from `opened` on
};

/// Axes that every statement traverses in row-major order are merged into one loop, so a short last axis still gives a
/// long loop.
struct LoopNest {
  std::vector<NestLoop> loops;  // those that may have more or less than one point, outermost first
  std::vector<NestStatement> statements;
  std::vector<int> register_levels;
  std::vector<DType> register_dtypes;

  int innermost() const { return static_cast<int>(loops.size()); }
  /// Returns the loop that opens at `level`.
  const NestLoop& loop(int level) const { return loops[static_cast<std::size_t>(level)]; }
  /// Does it change in the innermost loop?
  bool varies(RegisterId r) const { return register_levels[r.index] == innermost(); }
  Dim num_points() const;
};

/// Lays out the loops of a stage. `is_needless` is that of live_statements.
LoopNest loop_nest(const KernelProgram& program, const Kernel& kernel, const Stage& stage,
                   const std::function<bool(std::size_t)>& is_needless = {});

}  // namespace inlay::kernel
