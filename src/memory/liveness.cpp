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
/// it is read, and lives within one. Only the loops around the first tick and around the last can have such a border.
void widen(const KernelProgram& program, Liveness& out) {
  const kernel::Nesting nesting(program);
  if (nesting.is_empty()) return;
  const auto widen_to_loops = [&](Lifetime& life, int32_t tick) {
    const StepId step(static_cast<std::size_t>(tick / 2));
    if (step.index >= program.steps.size()) return;  // the caller's tick
    for (const kernel::RegionSpan* region = nesting.innermost(step); region; region = nesting.around(*region)) {
      const int32_t begin = read_tick(region->begin), end = end_tick(region->end);
      const bool is_inside = life.begin > begin && life.end < end;
      if (region->is_loop() && !is_inside) include(life, begin, end);
    }
  };
  for (Lifetime& life : out.lives) {
    if (life.begin == life.end) continue;
    widen_to_loops(life, life.begin);
    widen_to_loops(life, life.end - 1);
  }
}

}  // namespace

bool lives_in_one_pass(const Liveness& liveness, const kernel::Nesting& nesting, BufferId buffer, StepId step) {
  const kernel::RegionSpan* loop = nesting.holding(step);
  while (loop && !loop->is_loop()) loop = nesting.around(*loop);
  // What begins in the innermost loop begins in those around it.
  return !loop || liveness.lives[buffer].begin > read_tick(loop->begin);
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
