#pragma once
// How the loops of a stage are laid out, before any code exists: which axes are loops, and in which of them each
// statement is computed.
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
  Dim extent;               // of all of them; of a tile its most points
  bool is_tile = false;     // it passes a tile of the kernel's outer axis
  bool operator==(const NestLoop&) const = default;
};

struct NestStatement {
  bool live = true;  // false: what it makes is used by nothing that is left to do
  int level = 0;
  LinearMap place;            // of load, store and fold; of a check, the index that it looks at
  bool index_varies = false;  // does a loaded subscript vary with the innermost loop?
  int opened = 0;             // of what accumulates: the level of its element
  bool accumulates = false;   // in a register or a variable, over the loops from `opened` on
};

/// Axes that every statement passes in row-major order are one loop: a short last axis is then a long loop still.
struct LoopNest {
  std::vector<NestLoop> loops;  // of other than one point, outermost first
  std::vector<NestStatement> statements;
  std::vector<int> register_levels;
  std::vector<DType> register_dtypes;

  int innermost() const { return static_cast<int>(loops.size()); }
  /// That opens at `level`.
  const NestLoop& loop(int level) const { return loops[static_cast<std::size_t>(level)]; }
  /// Does it change in the innermost loop?
  bool varies(RegisterId r) const { return register_levels[r.index] == innermost(); }
  Dim num_points() const;
};

/// `is_needless`: see live_statements.
LoopNest loop_nest(const KernelProgram& program, const Kernel& kernel, const Stage& stage,
                   const std::function<bool(std::size_t)>& is_needless = {});

}  // namespace inlay::kernel
