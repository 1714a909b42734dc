#include "memory/liveness.h"

#include <algorithm>

namespace inlay::memory {

using kernel::BufferId;
using kernel::KernelProgram;
using kernel::StepId;

namespace {

void include(Lifetime& life, int32_t begin, int32_t end) {
  if (life.begin == life.end) {
    life = {begin, end};
  } else {
    life = {std::min(life.begin, begin), std::max(life.end, end)};
  }
}

/// Widens the live range of buffers that are live across the border of a loop: they are needed in every iteration, from
/// before the first to after the last. A buffer that is used only in the body is written anew in each iteration before
/// it is read, and lives within one.
void widen(const KernelProgram& program, Liveness& out) {
  std::vector<kernel::RegionSpan> regions = kernel::regions_of(program);
  std::ranges::reverse(regions);  // inner ones first
  for (const kernel::RegionSpan& region : regions) {
    if (!region.is_loop()) continue;
    const int32_t begin = read_tick(region.begin), end = end_tick(region.end);
    for (Lifetime& life : out.lives) {
      const bool is_apart = life.begin >= end || life.end <= begin;
      const bool is_inside = life.begin > begin && life.end < end;
      if (!is_apart && !is_inside) include(life, begin, end);
    }
  }
}

}  // namespace

bool lives_in_one_pass(const Liveness& liveness, const std::vector<kernel::RegionSpan>& regions, BufferId buffer,
                       StepId step) {
  const Lifetime& life = liveness.lives[buffer];
  return std::ranges::all_of(regions, [&](const kernel::RegionSpan& region) {
    return !region.is_loop() || !region.holds(step) || life.begin > read_tick(region.begin);
  });
}

Liveness liveness(const KernelProgram& program) {
  Liveness out{IdMap<BufferId, Uses>(program.buffers.size()), IdMap<BufferId, Lifetime>(program.buffers.size())};
  for (StepId step : ids<StepId>(program.steps.size())) {
    const kernel::StepAccess access = kernel::access_of(program, program.steps[step.index]);
    for (BufferId b : access.reads) {
      out.uses[b].reads.push_back(step);
      include(out.lives[b], read_tick(step), end_tick(step));
    }
    for (BufferId b : access.writes) {
      out.uses[b].writes.push_back(step);
      include(out.lives[b], write_tick(step), end_tick(step));
    }
  }
  for (BufferId b : program.params) {  // its bytes hold it from the beginning
    if (program.buffers[b].donated && out.lives[b].end > 0) out.lives[b].begin = 0;
  }
  const auto last = static_cast<int32_t>(2 * program.steps.size() + 1);  // the caller reads them after the last step
  for (BufferId b : program.outputs) {
    const BufferId root = kernel::root_of(program, b);
    out.lives[root].end = last;
  }
  widen(program, out);
  return out;
}

}  // namespace inlay::memory
