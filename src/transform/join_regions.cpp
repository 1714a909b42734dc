#include "transform/join_regions.h"

#include <algorithm>

#include "transform/join.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;

namespace {

bool lists(const Kernel& kernel, BufferId buffer) {
  return std::ranges::any_of(kernel.outputs, [&](const KernelOutput& output) { return output.buffer == buffer; });
}

bool write_one_buffer(const Kernel& first, const Kernel& second) {
  return std::ranges::any_of(second.outputs, [&](const KernelOutput& output) { return lists(first, output.buffer); });
}

}  // namespace

JoinRule regions_of_one_buffer(const KernelProgram& program) {
  return {"join-regions", Through::scalars,
          [](const Kernel& first, const Kernel& second, WhyNot*) {
            return first.outer.empty() && second.outer.empty() && write_one_buffer(first, second);
          },
          [&](Kernel& first, Between between, Kernel& second, WhyNot* why) {
            std::vector<const Kernel*> before = {&first};
            for (const Kernel* number : between) {
              if (!write_one_buffer(first, *number) || !starts_can_be_earlier(program, *number, before, why))
                return false;
              before.push_back(number);
            }
            if (!starts_can_be_earlier(program, second, before, why)) return false;
            for (Kernel* number : between) append(first, std::move(*number));
            append(first, std::move(second));
            return true;
          }};
}

KernelProgram join_regions(KernelProgram program, LoopPassContext& context) {
  join_kernels(program, regions_of_one_buffer(program), context);
  return program;
}

}  // namespace inlay::transform
