#include "kernel/nest.h"

#include <algorithm>

#include "kernel/live.h"

namespace inlay::kernel {

namespace {

using Kind = Statement::Kind;

class NestFinder {
 public:
  NestFinder(const KernelProgram& program, const Kernel& kernel, const Stage& stage) : stage_(stage) {
    find_loops(kernel);
    for (const Statement& s : stage.statements) {
      LinearMap& place = nest_.statements.emplace_back().place;
      if (s.has_place()) place = linearize(s.map, program.buffers[s.buffer].dims);
      if (const IndexTerm* index = s.index_to_check()) place.indices = {{*index, 1}};
    }
    merge_axes();
    axis_levels_.resize(kernel.outer.size() + stage.axes.size());
    for (int k = 0; k < nest_.innermost(); ++k) axis_levels_[static_cast<std::size_t>(loop(k).axis)] = k + 1;
  }

  LoopNest operator()(const std::function<bool(std::size_t)>& is_needless) {
    nest_.register_levels.resize(static_cast<std::size_t>(stage_.num_registers));
    nest_.register_dtypes.resize(static_cast<std::size_t>(stage_.num_registers));
    const std::vector<bool> live = live_statements(stage_, is_needless);
    for (std::size_t i = 0; i < live.size(); ++i) {
      nest_.statements[i].live = live[i];
      find_levels(stage_.statements[i], nest_.statements[i]);
    }
    return std::move(nest_);
  }

 private:
  NestLoop& loop(int level) { return nest_.loops[static_cast<std::size_t>(level)]; }

  void find_loops(const Kernel& kernel) {
    for (std::size_t i = 0; i <= stage_.axes.size(); ++i) {
      if (kernel.is_tiled() && !stage_.once && i == stage_.tile_at) {
        nest_.loops.push_back({.axis = kernel.tiled_axis(), .extent = Dim(kernel.tile), .is_tile = true});
      }
      if (i == stage_.axes.size() || stage_.axes[i].extent.is(1)) continue;
      const std::size_t axis = kernel.outer.size() + i;
      nest_.loops.push_back({.axis = static_cast<int>(axis), .extent = stage_.axes[i].extent});
    }
  }

  void merge_axes() {
    for (int k = nest_.innermost() - 1; k > 0; --k) {
      const NestLoop &outer = loop(k - 1), &inner = loop(k);
      if (outer.is_tile || inner.is_tile) continue;  // a tile is not the whole axis
      if (!are_one_loop(outer.axis, inner)) continue;
      for (NestStatement& facts : nest_.statements) {
        std::erase_if(facts.place.axes, [&](const auto& entry) { return entry.first == outer.axis; });
      }
      loop(k).merged.insert(loop(k).merged.begin(), outer.axis);
      loop(k).extent = outer.extent * inner.extent;
      nest_.loops.erase(nest_.loops.begin() + k - 1);
    }
  }

  /// Is one step of `outer` always as long as all steps of `inner`?
  bool are_one_loop(int outer, const NestLoop& inner) const {
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& s = stage_.statements[i];
      if (s.kind == Kind::axis && (s.axis == outer || s.axis == inner.axis)) return false;
      const LinearMap& place = nest_.statements[i].place;
      if (!(place.stride_of(outer) == place.stride_of(inner.axis) * inner.extent)) return false;
    }
    return true;
  }

  int level_of(RegisterId r) const { return nest_.register_levels[r.index]; }

  int level_of(const LinearMap& place) const {
    int level = 0;
    for (const auto& [axis, stride] : place.axes) level = std::max(level, axis_levels_[static_cast<std::size_t>(axis)]);
    for (const auto& [index, stride] : place.indices) level = std::max(level, level_of(index.index));
    return level;
  }

  void find_levels(const Statement& s, NestStatement& facts) {
    facts.level = level_of(s, facts.place);
    for (const auto& [index, stride] : facts.place.indices) {
      facts.index_varies |= !nest_.loops.empty() && nest_.varies(index.index);
    }
    if (s.accumulates()) {
      facts.opened = level_of(facts.place);
      facts.accumulates = facts.opened < nest_.innermost();
    }
    if (!s.result.valid()) return;
    nest_.register_levels[s.result.index] = facts.level;
    nest_.register_dtypes[s.result.index] = s.dtype;
  }

  int level_of(const Statement& s, const LinearMap& place) const {
    if (s.is_write()) return nest_.innermost();
    if (s.kind == Kind::axis) return axis_levels_[static_cast<std::size_t>(s.axis)];
    int level = level_of(place);
    for (RegisterId operand : s.operands) level = std::max(level, level_of(operand));
    return level;
  }

  const Stage& stage_;
  std::vector<int> axis_levels_;  // 0: an outer axis, one of a single point, or merged into another
  LoopNest nest_;
};

}  // namespace

Dim LoopNest::num_points() const {
  Dim points = 1;
  for (const NestLoop& loop : loops) points = points * loop.extent;
  return points;
}

LoopNest loop_nest(const KernelProgram& program, const Kernel& kernel, const Stage& stage,
                   const std::function<bool(std::size_t)>& is_needless) {
  return NestFinder(program, kernel, stage)(is_needless);
}

}  // namespace inlay::kernel
