#include "explain.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "explain/memory_map.h"
#include "exported_header.h"
#include "ir/text.h"
#include "kernel/counts.h"
#include "kernel/kernel_texts.h"
#include "kernel/text.h"
#include "saved_function.h"
#include "support/number_text.h"
#include "support/table.h"

namespace inlay::tool {
namespace {

/// At the right of a column of nine.
std::string right(const std::string& text) {
  return std::string(9 - std::min<std::size_t>(text.size(), 9), ' ') + text;
}

std::string milliseconds(double seconds) { return right(fixed_text(seconds * 1e3, 3)) + " ms"; }

std::string kernel_name(const Lowered& program, kernel::StepId step) {
  return "@" + std::get<kernel::Kernel>(program.kernels.steps[step.index]).name;
}

std::string rewrites_text(const Lowered& program) {
  std::string out;
  for (const PassCounts& pass : program.rewrites) {
    for (const auto& [what, count] : pass.counts) {
      if (count > 0) out += str(right(str(count)), "  ", what, " (", pass.pass, ")\n");
    }
  }
  if (!program.last_rewrite.empty()) out += str("the last one: ", program.last_rewrite, "\n");
  return out;
}

std::string apart_table(const Lowered& program) {
  const kernel::Names names(program.kernels);
  std::vector<std::vector<std::string>> rows = {{"first", "second", "shared", "why"}};
  for (const explain::Apart& pair : program.apart()) {
    rows.push_back(
        {kernel_name(program, pair.first), kernel_name(program, pair.second), names.buffers[pair.shared], pair.text()});
  }
  return rows.size() > 1 ? table(rows) : "";
}

}  // namespace

std::string explain(const Lowered& program, const file::FunctionFile* file) {
  const bool has_graph = !program.graph.outputs.empty();  // not of kernels that were read from a dump
  std::string out;
  if (file) out += str("# the file\n", file_table(*file), "\n");
  if (has_graph) out += str("# the graph, rewritten\n", print(program.graph), "\n");
  if (const std::string rewrites = rewrites_text(program); !rewrites.empty())
    out += str("# the rewrites\n", rewrites, "\n");
  out += str("# the kernels\n", kernel::print(program.kernels), "\n# the memory\n",
             program.order_gain.empty() ? "" : str("the order of steps: ", program.order_gain, "\n"),
             explain::memory_map(program.kernels, program.plan));
  if (const std::string stored = explain::stored_table(program.kernels, program.plan); !stored.empty())
    out += str("\n# stored\n", stored);
  if (const std::string apart = apart_table(program); !apart.empty()) out += str("\n# apart\n", apart);
  if (!program.kernels.refusals.empty()) {
    out += str("\n# not done\n", join(program.kernels.refusals, "\n"), "\n");
  }
  if (file) return out;  // the seconds of its compilation are those of another process
  out += "\n# the time\n";
  double total = 0;
  for (const auto& [stage, seconds] : program.seconds) {
    out += str(milliseconds(seconds), "  ", stage, "\n");
    total += seconds;
  }
  return str(out, milliseconds(total), "  all\n");
}

std::string explain_json(const Lowered& program, const file::FunctionFile* file) {
  const auto names = program.kernels.symbol_names();
  nlohmann::ordered_json kernels = nlohmann::json::array(), copies = nlohmann::json::array(), seconds;
  const IdMap<kernel::StepId, std::string> texts = kernel::print_kernels(program.kernels);
  for (kernel::StepId step : ids<kernel::StepId>(program.kernels.steps.size())) {
    const auto* kernel = std::get_if<kernel::Kernel>(&program.kernels.steps[step.index]);
    if (!kernel || kernel->is_scalar()) continue;
    const kernel::KernelCounts counts = kernel::count(program.kernels, *kernel);
    kernels.push_back({{"name", kernel->name},
                       {"text", texts[step]},
                       {"stages", counts.stages},
                       {"loads", counts.loads},
                       {"stores", counts.stores},
                       {"reductions", counts.folds},
                       {"reads", counts.reads.to_text(names)},
                       {"writes", counts.writes.to_text(names)}});
  }
  for (const memory::PlannedCopy& copy : program.plan.sharing.copies) {
    copies.push_back({{"source", program.kernels.buffers[copy.source].name},
                      {"destination", program.kernels.buffers[copy.destination].name},
                      {"reason", copy.reason}});
  }
  nlohmann::ordered_json stored = nlohmann::json::array();
  for (const explain::StoredValue& value : explain::stored_values(program.kernels, program.plan)) {
    stored.push_back({{"name", value.name},
                      {"bytes", value.bytes.to_text(names)},
                      {"where", value.where},
                      {"reason", value.reason}});
  }
  nlohmann::ordered_json apart = nlohmann::json::array();
  const kernel::Names buffer_names(program.kernels);
  for (const explain::Apart& pair : program.apart()) {
    apart.push_back({{"first", kernel_name(program, pair.first)},
                     {"second", kernel_name(program, pair.second)},
                     {"shared", buffer_names.buffers[pair.shared]},
                     {"reason", pair.text()}});
  }
  nlohmann::ordered_json rewrites = nlohmann::json::object();
  for (const PassCounts& pass : program.rewrites) {
    for (const auto& [what, count] : pass.counts) rewrites[what] = rewrites.value(what, int64_t{0}) + count;
  }
  for (const auto& [stage, time] : program.seconds) seconds[stage] = time;
  nlohmann::ordered_json out = {{"rewrites", rewrites},
                                {"kernels", kernels},
                                {"memory", rows_json(explain::memory_table(program.kernels, program.plan))},
                                {"copies", copies},
                                {"stored", stored},
                                {"apart", apart},
                                {"seconds", seconds},
                                {"refusals", program.kernels.refusals},
                                {"order_gain", program.order_gain},
                                {"arena_bytes", nullptr}};
  if (program.plan.is_static) out["arena_bytes"] = program.plan.arena_bytes();
  if (file) {
    out["file"] = file_json(*file);
    out.erase("rewrites");
    out.erase("seconds");
  }
  return out.dump(2) + "\n";
}

}  // namespace inlay::tool
