// inlay plan: the planners, on a problem from a file.
#include <cstdio>
#include <ctime>
#include <iostream>

#include <nlohmann/json.hpp>

#include "buffer_file.h"
#include "commands.h"
#include "explain/page.h"
#include "npy.h"
#include "support/number_text.h"
#include "terminal.h"

namespace inlay::tool {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Planned {
  memory::Layout layout;
  double seconds = 0;
};

memory::Effort effort_of(const PlanCommand& command) {
  return {.planner = memory::planner_named(command.planner, "--planner"),
          .budget_ms = command.budget_ms,
          .enough_bytes = std::max<int64_t>(command.capacity, 0)};
}

Planned planned(const PlanCommand& command, std::span<const memory::Storage> storages) {
  const Progress progress(str("planning ", command.file));
  const double before = cpu_seconds();
  memory::Layout layout = memory::plan(effort_of(command), storages);
  const double seconds = cpu_seconds() - before;
  for (const Diagnostic& wrong : memory::verify(layout, storages)) throw Error(wrong);
  return {std::move(layout), seconds};
}

double gap(const memory::Layout& layout) {
  if (layout.is_proved()) return 0;
  return static_cast<double>(layout.arena_bytes) / static_cast<double>(layout.lower_bound_bytes) - 1;
}

std::string json_text(const PlanCommand& command, const Planned& plan) {
  const nlohmann::ordered_json out = {{"peak", plan.layout.arena_bytes},
                                      {"lower_bound", plan.layout.lower_bound_bytes},
                                      {"proved", plan.layout.is_proved()},
                                      {"gap", gap(plan.layout)},
                                      {"seconds", plan.seconds},
                                      {"planner", command.planner},
                                      {"placements", plan.layout.placements},
                                      {"offsets", plan.layout.offset_bytes}};
  return out.dump() + "\n";
}

std::string text(const PlanCommand& command, const Planned& plan) {
  std::string out = str("peak ", plan.layout.arena_bytes, ", lower bound ", plan.layout.lower_bound_bytes, ": ");
  out += plan.layout.is_proved() ? "no plan is smaller"
                                 : str("at most ", fixed_text(100 * gap(plan.layout), 2), " % too large");
  out += str("; ", plan.layout.offset_bytes.size(), " buffers, ", command.planner, ", ", fixed_text(plan.seconds, 3),
             " s\n");
  return out;
}

std::string html(const PlanCommand& command, std::span<const BufferRow> rows, const memory::Layout& layout) {
  explain::Page page{
      .title = command.file, .arena_bytes = layout.arena_bytes, .lower_bound_bytes = layout.lower_bound_bytes};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BufferRow& row = rows[i];
    page.buffers.push_back({.name = row.id,
                            .reason = row.offset < 0 ? "" : "is pinned there",
                            .bytes = row.size,
                            .offset = layout.offset_bytes[i],
                            .begin = row.lower,
                            .end = row.upper});
  }
  return explain::page_html(page);
}

int run_plan(const PlanCommand& command) {
  const std::vector<BufferRow> rows = read_buffers(command.file);
  const Planned plan = planned(command, storages_of(rows));
  std::cout << (command.json ? json_text(command, plan) : text(command, plan));
  if (!command.html.empty()) write_file(command.html, html(command, rows, plan.layout));
  const bool fits = command.capacity < 0 || plan.layout.arena_bytes <= command.capacity;
  if (!fits) std::cerr << str("no plan within ", command.capacity, " was found\n");
  return fits ? kDone : kFailed;
}

}  // namespace

/// Input that is wrong has an exit code of its own: 1 says that no plan was found.
int plan_file(const PlanCommand& command) {
  try {
    return run_plan(command);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw;
    std::cerr << error_text(error.what()) << "\n";
    return kWrongUsage;
  }
}

}  // namespace inlay::tool
