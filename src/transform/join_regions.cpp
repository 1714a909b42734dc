#include "transform/join_regions.h"

#include <algorithm>
#include <numeric>

#include "transform/join.h"
#include "transform/order_axes.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;

namespace {

bool lists(const Kernel& kernel, BufferId buffer) {
  return std::ranges::any_of(kernel.outputs, [&](const KernelOutput& output) { return output.buffer == buffer; });
}

bool write_one_buffer(const Kernel& first, const Kernel& second) {
  return std::ranges::any_of(second.outputs, [&](const KernelOutput& output) { return lists(first, output.buffer); });
}

/// May the kernel, which has no outer axes, run once before the outer points of another? What can fail stays where it
/// is found in order, and what it makes for others would be there until the last row is done.
bool may_run_once(const KernelProgram& program, const Kernel& kernel, const Kernel& rows) {
  const auto keeps_apart = [](const Statement& s) { return s.can_fail() || s.has_hidden_states(); };
  return !any_statement(kernel, keeps_apart) && std::ranges::all_of(kernel.outputs, [&](const KernelOutput& output) {
    return program.buffers[output.buffer].role != kernel::Role::temporary || lists(rows, output.buffer);
  });
}

/// Do the kernels touch nothing in common that one of them writes?
bool are_apart(const KernelProgram& program, const Kernel& first, const Kernel& second) {
  const auto meets_second = [&](const Stage& stage, const Statement& a) {
    return std::ranges::any_of(second.stages, [&](const Stage& other) {
      return std::ranges::any_of(other.statements, [&](const Statement& b) {
        if (!b.has_place() || (!a.is_write() && !b.is_write())) return false;
        if (root_of(program, a.buffer) != root_of(program, b.buffer)) return false;
        const std::vector<Dim> extents = axis_extents(first, stage), others = axis_extents(second, other);
        return !kernel::always_disjoint({a.map, extents, program.buffers[a.buffer].dims},
                                        {b.map, others, program.buffers[b.buffer].dims});
      });
    });
  };
  return std::ranges::none_of(first.stages, [&](const Stage& stage) {
    return std::ranges::any_of(stage.statements,
                               [&](const Statement& s) { return s.has_place() && meets_second(stage, s); });
  });
}

/// The stages of `kernel` run once, before the outer points of `rows`.
Kernel run_once(Kernel kernel, Kernel rows) {
  for (Stage& stage : kernel.stages) {
    std::vector<int> now(stage.axes.size());
    std::iota(now.begin(), now.end(), static_cast<int>(rows.outer.size()));
    renumber_axes(stage, now);
    stage.once = true;
  }
  // What both write begins as it does in the one that was first.
  for (KernelOutput& output : kernel.outputs) {
    const auto same = [&](const KernelOutput& other) { return other.buffer == output.buffer; };
    const auto found = std::ranges::find_if(rows.outputs, same);
    if (found != rows.outputs.end() && output.start.kind == kernel::Start::Kind::keep) output.start = found->start;
  }
  kernel.outer = rows.outer;
  kernel.tile = rows.tile;
  append(kernel, std::move(rows));
  return kernel;
}

}  // namespace

JoinRule regions_of_one_buffer(const KernelProgram& program) {
  return {"join-regions", Through::scalars,
          [&](const Kernel& first, const Kernel& second, WhyNot*) {
            if (!write_one_buffer(first, second)) return false;
            if (first.outer.empty()) return second.outer.empty() || may_run_once(program, first, second);
            return second.outer.empty() && may_run_once(program, second, first);
          },
          [&](Kernel& first, Between between, Kernel& second, WhyNot* why) {
            if (!first.outer.empty() && (!between.empty() || !are_apart(program, first, second))) return false;
            std::vector<const Kernel*> before = {&first};
            for (const Kernel* number : between) {
              if (!write_one_buffer(first, *number) || !starts_can_be_earlier(program, *number, before, why))
                return false;
              before.push_back(number);
            }
            if (!starts_can_be_earlier(program, second, before, why)) return false;
            if (!first.outer.empty()) {
              first = run_once(std::move(second), std::move(first));
              return true;
            }
            for (Kernel* number : between) append(first, std::move(*number));
            if (second.outer.empty()) {
              append(first, std::move(second));
            } else {
              first = run_once(std::move(first), std::move(second));
            }
            return true;
          }};
}

KernelProgram join_regions(KernelProgram program, LoopPassContext& context) {
  join_kernels(program, regions_of_one_buffer(program), context);
  return program;
}

}  // namespace inlay::transform
