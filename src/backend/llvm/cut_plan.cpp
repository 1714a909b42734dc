#include "backend/llvm/cut_plan.h"

#include <algorithm>
#include <span>

#include "kernel/dim_proof.h"
#include "kernel/tiles.h"

namespace inlay::llvm_backend {
namespace {

using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;

/// As it is known: too little for two blocks?
bool is_one_block(const Cut& cut) {
  const bool is_short = cut.extent.is_constant() && cut.extent.constant() <= cut.step;
  return is_short || (cut.cost.is_constant() && cut.cost.constant() < 2 * cut.cost_of_block);
}

bool rounds(const BlockFold& fold) {
  return (fold.fold == Fold::add || fold.fold == Fold::mul) && is_float(fold.dtypes[0]);
}

/// Are the results other bytes than without blocks? Of sums by their tree they are not.
bool shows(const Cut& cut) {
  return std::ranges::any_of(
      cut.folds, [&](const BlockFold& fold) { return kernel::shows(fold) && !(cut.keeps_tree && fold.is_one_sum); });
}

void keep_tree(const StagePlan& plan, Cut& cut) {
  cut.keeps_tree = true;
  cut.step = int64_t{StagePlan::kVectorsOfBlock} * plan.width;
  cut.left_over_of = int64_t{StagePlan::kQuarters} * plan.width;
}

/// Gives the cut what its blocks fold. False: there is no memory for that, or too little work.
bool take_folds(const KernelProgram& program, const Kernel& kernel, std::vector<BlockFold> folds, int64_t lane_bytes,
                const BlockRule& rule, Cut& cut) {
  cut.folds = std::move(folds);
  cut.cost_of_block = rule.cost_of_block(cut.folds);
  cut.most_blocks = rule.most_blocks(cut.folds);
  cut.in_workspace = rule.needs_workspace(cut.folds);
  if (!cut.in_workspace) return true;
  cut.lane_bytes = lane_bytes;
  const Dim wanted = rule.workspace_bytes(cut.folds, lane_bytes, cut.cost);
  return kernel.workspace.valid() && !is_one_block(cut) &&
         kernel::always_at_least(num_elements(program.buffers[kernel.workspace]), wanted);
}

/// In the vector loop. (Two vectors at a time go through an index where tables are long.)
int64_t points_of_pass(const StagePlan& plan) { return int64_t{plan.width} * std::max(plan.unroll, 2); }

}  // namespace

std::optional<Cut> cut_of(const KernelProgram& program, const Kernel& kernel, const Stage& stage, const StagePlan& plan,
                          const BlockRule& rule) {
  for (int level = 0; level < plan.innermost(); ++level) {
    // Of rows that are folded the columns may be cut as well: what is made once for a row is little.
    const bool may_cut = level == 0 || (plan.by_columns && level == 1 && plan.innermost() == 2);
    if (!may_cut) return {};
    Cut cut{.level = level,
            .extent = plan.loop(level).extent,
            .cost = kernel::cost_of(kernel, {&stage, 1}),
            .cost_of_block = rule.cost,
            .step = level + 1 == plan.innermost() ? points_of_pass(plan) : 1};
    if (is_one_block(cut)) continue;
    auto folds = kernel::folds_of_blocks(program, kernel, {&stage, 1}, plan.loop(level).axes());
    if (!folds) continue;
    // A sum by columns is the same number whatever else its loop does, and has no tree of whose branches could be made.
    if (plan.by_columns && level == 0 && std::ranges::any_of(*folds, rounds)) continue;
    if (!take_folds(program, kernel, std::move(*folds), kernel::most_lane_bytes(stage), rule, cut)) continue;
    if (plan.by_turns && plan.innermost() == 1) keep_tree(plan, cut);
    if (!rule.for_threads && !shows(cut)) return {};
    return cut;
  }
  return {};
}

std::optional<Cut> cut_of(const KernelProgram& program, const Kernel& kernel, const BlockRule& rule) {
  const std::optional<int> axis = kernel::outer_axis_to_cut(kernel);
  if (!axis) return {};
  const auto stages = std::span(kernel.stages).subspan(kernel.num_once());
  Cut cut{.level = *axis,
          .extent = kernel.outer[*axis].extent,
          .cost = kernel::cost_of(kernel, stages),
          .cost_of_block = rule.cost};
  // (Rows that are folded again are folded each for itself: a tile may begin at any of them, and few may be long.)
  if (kernel.is_tiled() && *axis == kernel.tiled_axis() && !kernel::folds_rows_again(kernel)) cut.step = kernel.tile;
  if (is_one_block(cut)) return {};
  auto folds = kernel::folds_of_blocks(program, kernel, stages, {*axis});
  if (!folds || !take_folds(program, kernel, std::move(*folds), 0, rule, cut)) return {};
  if (!rule.for_threads && !shows(cut)) return {};
  return cut;
}

}  // namespace inlay::llvm_backend
