#include "memory/commit.h"

#include <algorithm>

#include "kernel/steps.h"

namespace inlay::memory {

using kernel::BufferId;
using kernel::Kernel;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::StepId;

Commit::Commit(const kernel::KernelProgram& program, const Liveness& liveness)
    : program_(program), liveness_(liveness), loops_(kernel::regions_of(program)) {
  for (StepId step : ids<StepId>(program.steps.size())) {
    if (can_fail(program.steps[step.index])) last_failing_ = step;
  }
  std::erase_if(loops_, [&](const auto& region) { return !region.is_loop() || !region.holds(last_failing_); });
}

std::string Commit::why_not(BufferId buffer, BufferId given) const {
  for (StepId step : liveness_.uses[buffer].writes) {
    if (std::string why = why_not(buffer, given, step); !why.empty()) return why;
  }
  return "";
}

std::string Commit::why_not(BufferId buffer, BufferId given, StepId step) const {
  if (!last_failing_.valid()) return "";
  // A step in a loop comes before what fails in the next iteration.
  const bool repeats = std::ranges::any_of(loops_, [&](const auto& loop) { return loop.holds(step); });
  if (last_failing_ < step && !repeats) return "";
  const std::string too_early = str("would be overwritten before the last step that can fail, ",
                                    step_name(program_, program_.steps[last_failing_.index]));
  const auto* kernel = std::get_if<Kernel>(&program_.steps[step.index]);
  if (last_failing_ != step || !kernel || repeats || !kernel->outer.empty()) return too_early;
  const Start* start = start_of(program_, *kernel, buffer);
  const bool copies_given =
      start && start->kind == Start::Kind::copy && kernel::root_of(program_, start->source) == given;
  if (start && !copies_given) return too_early;
  bool has_written = false;
  for (const Stage& stage : kernel->stages) {
    has_written |= std::ranges::any_of(stage.statements, [&](const Statement& s) {
      return s.is_write() && kernel::root_of(program_, s.buffer) == buffer;
    });
    if (has_written && can_fail(stage)) return too_early;
  }
  return "";
}

std::vector<bool> written_last(const kernel::KernelProgram& program, const Sharing& sharing) {
  const Liveness lives = liveness(program);
  const Commit commit(program, lives);
  // For a result in the bytes of a donated parameter the caller passes that parameter's memory, which holds its
  // contents at first.
  IdMap<StorageId, BufferId> given(sharing.storages.size());
  for (BufferId param : program.params) {
    if (const StorageId storage = sharing.placements[param].storage; storage.valid()) given[storage] = param;
  }
  IdMap<StorageId, bool> is_last(sharing.storages.size(), true);
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    const StorageId storage = sharing.placements[b].storage;
    if (!storage.valid() || kernel::root_of(program, b) != b || b == given[storage]) continue;
    if (!commit.why_not(b, given[storage]).empty()) is_last[storage] = false;
  }
  std::vector<bool> out;
  for (BufferId output : program.outputs) {
    const StorageId storage = sharing.placements[kernel::root_of(program, output)].storage;
    out.push_back(storage.valid() && is_last[storage]);
  }
  return out;
}

std::vector<bool> may_have_written(const kernel::KernelProgram& program, const Sharing& sharing) {
  const auto is_callers = [&](BufferId b) {
    const BufferId root = kernel::root_of(program, b);
    const StorageId storage = sharing.placements[root].storage;
    if (!storage.valid()) return program.buffers[root].role == kernel::Role::output;
    return sharing.storages[storage].owner == Owner::output || sharing.storages[storage].owner == Owner::param;
  };
  std::size_t first = 0;
  while (first < program.steps.size() &&
         std::ranges::none_of(access_of(program, program.steps[first]).writes, is_callers))
    ++first;
  // A step of a loop comes after what the previous iteration wrote.
  for (const kernel::RegionSpan& region : kernel::regions_of(program)) {
    if (region.is_loop() && region.holds(StepId(first))) first = std::min<std::size_t>(first, region.begin.index);
  }
  std::vector<bool> out(program.steps.size(), false);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(std::min(first, out.size())), out.end(), true);
  return out;
}

}  // namespace inlay::memory
