#include "kernel/stopping.h"

#include <algorithm>
#include <variant>

namespace inlay::kernel {
namespace {

/// Of all stages; `kPointsBetweenLooks` + 1 if it is more than that, or not known.
int64_t points_of(const Kernel& kernel) {
  constexpr int64_t kMany = kPointsBetweenLooks + 1;
  const auto times = [kMany](int64_t points, const Axis& axis) {
    if (!axis.extent.is_constant()) return kMany;
    return points * std::min(axis.extent.constant(), kMany) > kPointsBetweenLooks ? kMany
                                                                                  : points * axis.extent.constant();
  };
  int64_t outer = 1;
  for (const Axis& axis : kernel.outer) outer = times(outer, axis);
  int64_t all = 0;
  for (const Stage& stage : kernel.stages) {
    int64_t points = outer;
    for (const Axis& axis : stage.axes) points = times(points, axis);
    all = std::min(all + points, kMany);
  }
  return all;
}

}  // namespace

bool is_short(const Kernel& kernel) { return points_of(kernel) <= kPointsBetweenLooks; }

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
