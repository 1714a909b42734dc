#include "kernel/tiles.h"

#include <algorithm>

namespace inlay::kernel {

bool folds_rows_again(const Kernel& kernel) {
  // (Of two outer axes the tiles of the last one may be short themselves, and each takes as long as some rows do.)
  if (kernel.outer.size() != 1) return false;
  const int row = 0;
  const auto passes_points = [](const Stage& stage) { return !stage.axes.empty(); };
  const auto leaves_numbers = [&](const Stage& stage) {
    const bool is_of_rows = stage.axes.empty() || (stage.axes.size() == 1 && !stage.axes[0].extent.is_constant());
    return is_of_rows && stage.tile_at == 0 && std::ranges::all_of(stage.statements, [&](const Statement& s) {
             const bool is_of_row = s.map.uses_axis(row) && !s.map.uses_axis(row + 1);
             return !s.is_write() || (is_of_row && (stage.axes.empty() || s.kind == Statement::Kind::fold));
           });
  };
  return std::ranges::count_if(kernel.stages, passes_points) > 1 && std::ranges::all_of(kernel.stages, leaves_numbers);
}

Dim rows_at_once(const Kernel& kernel) {
  if (!kernel.is_tiled() || !folds_rows_again(kernel)) return kernel.tile;
  constexpr int64_t kPoints = 2048;  // 16 KB of doubles
  Dim longest = 1;
  for (const Stage& stage : kernel.stages) {
    if (!stage.axes.empty()) longest = max(longest, stage.axes[0].extent);
  }
  return max(min(floor_div(Dim(kPoints), longest), Dim(kernel.tile)), Dim(1));
}

}  // namespace inlay::kernel
