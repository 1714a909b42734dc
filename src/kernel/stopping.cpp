#include "kernel/stopping.h"

#include <algorithm>
#include <variant>

namespace inlay::kernel {
namespace {

/// Stands for more than `kPointsBetweenLooks` points, or an unknown number.
constexpr int64_t kMany = kPointsBetweenLooks + 1;

int64_t points_of(const Kernel& kernel, const Stage& stage) {
  int64_t points = 1;
  for (const Dim& extent : axis_extents(kernel, stage)) {
    const int64_t length = extent.is_constant() ? std::min(extent.constant(), kMany) : kMany;
    points = std::min(points * length, kMany);
  }
  return points;
}

/// Returns the points of the stages for which `counts` is true.
int64_t points_of(const Kernel& kernel, auto counts) {
  int64_t all = 0;
  for (const Stage& stage : kernel.stages) {
    if (const int64_t points = points_of(kernel, stage); counts(points)) all = std::min(all + points, kMany);
  }
  return all;
}

int64_t points_of(const Kernel& kernel) {
  return points_of(kernel, [](int64_t) { return true; });
}

bool is_short(const Kernel& kernel) { return points_of(kernel) < kMany; }

bool has_outer_loops(const Kernel& kernel) {
  return kernel.is_tiled() || std::ranges::any_of(kernel.outer, [](const Axis& axis) { return !axis.extent.is(1); });
}

}  // namespace

bool looks_at_outer_points(const Kernel& kernel) { return has_outer_loops(kernel) && !is_short(kernel); }

bool looks_in_rows(const Kernel& kernel) { return !is_short(kernel); }

bool looks_within(const Kernel& kernel, const Stage& stage, const LoopNest& nest) {
  if (nest.innermost() != 1 || (has_outer_loops(kernel) && !stage.once)) return false;
  return points_of(kernel, stage) == kMany || points_of(kernel, [](int64_t points) { return points < kMany; }) == kMany;
}

std::vector<bool> looks_before(const KernelProgram& program) {
  std::vector<bool> out(program.steps.size(), false);
  int64_t passed = 0;  // since the last look
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (std::holds_alternative<LoopBegin>(step)) passed = 0;
    const bool ends_branch = std::holds_alternative<CondElse>(step) || std::holds_alternative<CondEnd>(step);
    if (ends_branch) passed = kPointsBetweenLooks;  // another branch may have been taken, without its looks
    int64_t points = 0;
    if (const auto* kernel = std::get_if<Kernel>(&step); kernel && !kernel->is_scalar()) points = points_of(*kernel);
    out[i] = i > 0 && points > 0 && passed + points > kPointsBetweenLooks;
    passed = (out[i] ? 0 : passed) + points;
    if (std::holds_alternative<LibraryCall>(step)) passed = kPointsBetweenLooks + 1;
  }
  return out;
}

}  // namespace inlay::kernel
