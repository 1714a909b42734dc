#include "structure.h"

#include <map>
#include <vector>

#include "kernel/counts.h"
#include "kernel/kernel_texts.h"

namespace inlay::tool {
namespace {

constexpr std::string_view kUsual = "kernels, stages, reads, writes, copies";

/// The names of "kernels 1, reads min(n, m) + 1", in order: the first word between commas that stand in no brackets.
std::vector<std::string> names_in(std::string_view wanted) {
  std::vector<std::string> names;
  int depth = 0;
  bool at_start = true, in_name = false;
  for (char c : wanted) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      at_start = true;
    } else if (c == ' ' || c == ',') {
      in_name = false;
      continue;
    } else if (at_start) {
      names.emplace_back();
      in_name = true;
      at_start = false;
    }
    if (c == ',') in_name = false;
    if (in_name) names.back() += c;
  }
  return names;
}

/// All segments together, as the default planner lays them out for these sizes.
int64_t arena_bytes(const memory::MemoryPlan& plan, std::span<const int64_t> sizes) {
  int64_t total = 0;
  for (int segment = 0; segment < plan.sharing.num_segments(); ++segment) {
    total +=
        memory::plan(memory::Planner::search, memory::storages_of_segment(plan.sharing, segment, sizes)).arena_bytes;
  }
  return total;
}

}  // namespace

std::string count_text(const Lowered& compiled, std::string_view wanted, std::span<const int64_t> sizes) {
  const kernel::KernelProgram& program = compiled.kernels;
  const memory::MemoryPlan& plan = compiled.plan;
  const bool sizes_known = sizes.size() == program.symbols.size();
  const kernel::KernelCounts counts = kernel::count(program);
  const auto text = [&](const Dim& dim) { return dim.to_text(program.symbol_names()); };
  const std::map<std::string, std::string, std::less<>> found = {
      {"kernels", std::to_string(counts.kernels)},
      {"stages", std::to_string(counts.stages)},
      {"loads", std::to_string(counts.loads)},
      {"stores", std::to_string(counts.stores)},
      {"folds", std::to_string(counts.folds)},
      {"gathers", std::to_string(counts.gathers)},
      {"scatters", std::to_string(counts.scatters)},
      {"ops", std::to_string(counts.ops)},
      {"width", std::to_string(counts.width)},
      {"reads", text(counts.reads)},
      {"writes", text(counts.writes)},
      {"flops", text(counts.flops)},
      {"copies", std::to_string(plan.sharing.copies.size())},
      {"arena_bytes", sizes_known ? std::to_string(arena_bytes(plan, sizes)) : "?"},
      {"library_calls", std::to_string(counts.library_calls)},
      {"host_calls", std::to_string(counts.host_calls)},
      {"loops", std::to_string(counts.loops)},
      {"conds", std::to_string(counts.conds)},
      {"size_checks", std::to_string(counts.size_checks)},
  };
  return join(names_in(wanted.empty() ? kUsual : wanted), ", ", [&](const std::string& name) {
    const auto at = found.find(name);
    if (at == found.end()) throw Error(ErrorCode::unknown_name, {}, str("nothing is counted as ", name));
    return str(name, " ", at->second);
  });
}

std::string fuse_text(const Lowered& compiled) {
  const kernel::KernelProgram& program = compiled.kernels;
  const IdMap<kernel::StepId, std::string> texts = kernel::print_kernels(program);
  std::string out;
  for (kernel::StepId step : ids<kernel::StepId>(program.steps.size())) {
    const auto* kernel = std::get_if<kernel::Kernel>(&program.steps[step.index]);
    if (kernel && !kernel->is_scalar()) out += texts[step];
  }
  return out;
}

}  // namespace inlay::tool
