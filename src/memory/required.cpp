#include "memory/required.h"

#include <algorithm>

#include "kernel/steps.h"
#include "memory/liveness.h"

namespace inlay::memory {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::StepId;

namespace {

BufferId root(const KernelProgram& program, BufferId b) { return kernel::root_of(program, b); }

/// Returns the copy, with its reason, that moves the bytes of `source` to `destination`. For a value that a loop
/// carries it is the copy at the end of the body, whose reason says why the next value is made elsewhere.
const PlannedCopy& copy_of(const KernelProgram& program, const Sharing& sharing, StepId step, BufferId source,
                           BufferId destination) {
  const auto same = [&](BufferId a, BufferId b) { return root(program, a) == root(program, b); };
  const auto back = std::ranges::find_if(sharing.copies, [&](const PlannedCopy& copy) {
    return std::holds_alternative<kernel::Copy>(program.steps[copy.step.index]) && same(copy.source, destination) &&
           same(copy.destination, source);
  });
  if (back != sharing.copies.end()) return *back;
  const auto found = std::ranges::find_if(
      sharing.copies, [&](const PlannedCopy& copy) { return copy.step == step && copy.destination == destination; });
  INLAY_CHECK(found != sharing.copies.end(), "a copy without a reason");
  return *found;
}

/// "@k1, which makes t and s".
std::string step_text(const KernelProgram& program, StepId step) {
  const kernel::Step& of = program.steps[step.index];
  const std::vector<BufferId> made = access_of(program, of).writes;
  const std::string makes = join(made, " and ", [&](BufferId b) { return program.buffers[b].name; });
  return str(step_name(program, of), makes.empty() ? "" : ", which makes ", makes);
}

}  // namespace

void require_in_place(const KernelProgram& program, const Sharing& sharing) {
  for (StepId step : ids<StepId>(program.steps.size())) {
    const auto* kernel = std::get_if<Kernel>(&program.steps[step.index]);
    if (!kernel) continue;
    for (const kernel::KernelOutput& output : kernel->outputs) {
      if (!output.start.required.valid() || output.start.elided) continue;
      const kernel::Site& site = program.sites[output.start.required];
      const PlannedCopy& copy = copy_of(program, sharing, step, output.start.source, output.buffer);
      Diagnostic error{site.code, site.location, str(site.message, ": ", copy.reason), site.notes, {}};
      if (copy.about.valid()) error.notes.emplace_back("step", step_text(program, copy.about));
      throw Error(std::move(error));
    }
  }
}

}  // namespace inlay::memory
