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

}  // namespace

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
  const auto last = static_cast<int32_t>(2 * program.steps.size() + 1);  // the caller reads them after the last step
  for (BufferId b : program.outputs) {
    const BufferId root = kernel::root_of(program, b);
    out.lives[root].end = last;
  }
  return out;
}

}  // namespace inlay::memory
