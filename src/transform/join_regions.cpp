#include "transform/join_regions.h"

#include <algorithm>

#include "transform/join.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;

namespace {

bool writes(const Kernel& kernel, BufferId buffer) {
  return std::ranges::any_of(kernel.outputs, [&](const KernelOutput& output) { return output.buffer == buffer; });
}

bool write_one_buffer(const Kernel& first, const Kernel& second) {
  return std::ranges::any_of(second.outputs, [&](const KernelOutput& output) { return writes(first, output.buffer); });
}

/// A start happens before the first stage: what it overwrites or copies must not be written by a stage before it.
bool starts_come_late(std::span<const Kernel* const> before, const Kernel& later) {
  return std::ranges::any_of(later.outputs, [&](const KernelOutput& output) {
    return std::ranges::any_of(before, [&](const Kernel* earlier) {
      const bool starts = output.start.kind != kernel::Start::Kind::keep && writes(*earlier, output.buffer);
      return starts || (output.start.kind == kernel::Start::Kind::copy && writes(*earlier, output.start.source));
    });
  });
}

/// Stages that write regions of one buffer are one Kernel: a slice write over its base, the parts of a concat. A number
/// that is written between two of them is a region too.
const JoinRule kRegions = {write_one_buffer, [](Kernel& first, Between between, Kernel& second) {
                             std::vector<const Kernel*> before = {&first};
                             for (const Kernel* number : between) {
                               if (!write_one_buffer(first, *number) || starts_come_late(before, *number)) return false;
                               before.push_back(number);
                             }
                             if (starts_come_late(before, second)) return false;
                             for (Kernel* number : between) append(first, std::move(*number));
                             append(first, std::move(second));
                             return true;
                           }};

}  // namespace

KernelProgram join_regions(KernelProgram program, LoopPassContext& context) {
  join_kernels(program, Through::scalars, kRegions, context);
  return program;
}

}  // namespace inlay::transform
