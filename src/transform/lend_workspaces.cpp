#include "transform/lend_workspaces.h"

#include <algorithm>

#include "kernel/blocks.h"
#include "kernel/nest.h"

namespace inlay::transform {
namespace {

using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;

class Lender {
 public:
  Lender(const KernelProgram& program, const kernel::BlockRule& rule) : program_(program), rule_(rule) {}

  /// What the blocks of a kernel need; 0: nothing that is not on the stack.
  Dim bytes_for(const Kernel& kernel) const {
    if (std::ranges::none_of(kernel.stages, adds_through_index)) return 0;
    const std::size_t num_once = kernel.num_once();
    const auto axis = kernel::outer_axis_to_cut(kernel);
    Dim bytes = 0;  // one stage has it after the other, and then all stages of a block
    if (axis) bytes = bytes_for(kernel, std::span(kernel.stages).subspan(num_once), {*axis}, 0);
    for (const Stage& stage : std::span(kernel.stages).first(axis ? num_once : kernel.stages.size())) {
      if (!adds_through_index(stage)) continue;
      const kernel::LoopNest nest = kernel::loop_nest(program_, kernel, stage);
      if (nest.loops.empty()) continue;
      const Dim more = bytes_for(kernel, {&stage, 1}, nest.loop(0).axes(), kernel::most_lane_bytes(stage));
      if (!more.is(0)) bytes = bytes.is(0) ? more : max(bytes, more);
    }
    return bytes;
  }

 private:
  static bool adds_through_index(const Stage& stage) {
    return std::ranges::any_of(stage.statements, [](const kernel::Statement& s) {
      return s.is_write() && s.accumulates() && s.map.has_index();
    });
  }

  Dim bytes_for(const Kernel& kernel, std::span<const Stage> stages, std::vector<int> axes, int64_t lane_bytes) const {
    const auto folds = kernel::folds_of_blocks(program_, kernel, stages, std::move(axes));
    if (!folds || !rule_.needs_workspace(*folds)) return 0;
    if (!rule_.for_threads && std::ranges::none_of(*folds, kernel::shows)) return 0;
    return rule_.workspace_bytes(*folds, lane_bytes, kernel::cost_of(kernel, stages));
  }

  const KernelProgram& program_;
  const kernel::BlockRule& rule_;
};

}  // namespace

KernelProgram lend_workspaces(KernelProgram program, LoopPassContext& context) {
  if (context.caps.blocks.cost == 0) return program;
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel || kernel->workspace.valid()) continue;
    const Dim bytes = Lender(program, context.caps.blocks).bytes_for(*kernel);
    if (bytes.is(0) || !context.fires()) continue;
    kernel::Buffer workspace{.name = str("tables_", program.buffers.size()), .dtype = DType::u8, .dims = {bytes}};
    workspace.stored = {kernel::StoredFor::workspace, "blocks that threads may run"};
    kernel->workspace = program.buffers.push_back(std::move(workspace));
  }
  return program;
}

}  // namespace inlay::transform
