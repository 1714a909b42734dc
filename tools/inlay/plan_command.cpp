// inlay plan: the planners, on a problem from a file.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <set>

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

using memory::pools::Buffer;
using memory::pools::Pool;
using memory::pools::PoolLayout;

struct Planned {
  memory::pools::Plan plan;
  double seconds = 0;
};

Error wrong_capacity(const std::string& text, const char* message) {
  return {ErrorCode::invalid_file, {}, str("--capacity ", text, ": ", message)};
}

/// "BYTES", of the pool without a name, or "POOL=BYTES".
Pool pool_of(const std::string& text) {
  const std::size_t equal = text.rfind('=');
  Pool out{.name = equal == std::string::npos ? "" : text.substr(0, equal)};
  const std::string bytes = equal == std::string::npos ? text : text.substr(equal + 1);
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), out.capacity_bytes);
  if (error != std::errc() || end != bytes.data() + bytes.size() || out.capacity_bytes < 0)
    throw wrong_capacity(text, "no whole number of bytes");
  return out;
}

/// The pools of the file of JSON with the capacities that the command line has; else those of the command line, and
/// those that only buffers name. A buffer that names none may lie in any of the command line's, so it may name new
/// ones.
std::vector<Pool> pools_of(const PlanCommand& command, const BufferFile& file) {
  std::vector<Pool> named = file.pools, out;
  const auto find = [](std::vector<Pool>& in, const std::string& name) {
    return std::ranges::find(in, name, &Pool::name);
  };
  for (const Buffer& buffer : file.buffers) {
    if (!file.pools.empty()) break;  // those are all
    for (const std::string& name : buffer.pools) {
      if (find(named, name) == named.end()) named.push_back({.name = name});
    }
  }
  const bool may_be_new =
      file.pools.empty() && std::ranges::any_of(file.buffers, &std::vector<std::string>::empty, &Buffer::pools);
  std::set<std::string> seen;
  for (const std::string& text : command.capacities) {
    const Pool given = pool_of(text);
    if (!seen.insert(given.name).second) throw wrong_capacity(text, "this pool has one already");
    const auto known = find(named, given.name);
    if (known == named.end() && !named.empty() && given.name.empty())
      throw wrong_capacity(text, "there are pools: POOL=BYTES says of which");
    if (known == named.end() && !named.empty() && !may_be_new) throw wrong_capacity(text, "there is no such pool");
    if (known != named.end()) known->capacity_bytes = given.capacity_bytes;
    if (known == named.end() || file.pools.empty()) out.push_back(given);
  }
  for (const Pool& pool : named) {
    if (find(out, pool.name) == out.end()) out.push_back(pool);
  }
  return out;
}

Planned planned(const PlanCommand& command, const BufferFile& file) {
  const Progress progress(str("planning ", command.file));
  const double before = cpu_seconds();
  const memory::Effort effort{.planner = memory::planner_named(command.planner, "--planner"),
                              .budget_ms = command.budget_ms};
  const std::vector<Pool> pools = pools_of(command, file);
  check(file, pools);
  Planned out{.plan = memory::pools::plan(file.buffers, pools, memory::pools::planner_of(effort))};
  out.seconds = cpu_seconds() - before;
  return out;
}

double gap(int64_t peak, int64_t lower_bound) {
  return peak == lower_bound ? 0 : static_cast<double>(peak) / static_cast<double>(lower_bound) - 1;
}

nlohmann::ordered_json json_of(const Buffer& buffer) {
  nlohmann::ordered_json out = {{"id", buffer.name},
                                {"lower", buffer.lower},
                                {"upper", buffer.upper},
                                {"size", buffer.size},
                                {"alignment", buffer.alignment}};
  if (buffer.offset) out["offset"] = *buffer.offset;
  if (!buffer.base.empty()) out["base"] = buffer.base;
  if (!buffer.pools.empty()) out["pool"] = buffer.pools;
  if (buffer.cost) out["cost"] = *buffer.cost;
  if (!buffer.entry.empty()) out["entry"] = buffer.entry;
  return out;
}

/// The file again, with what the plan says of each pool and each buffer beside it.
std::string json_text(const PlanCommand& command, const BufferFile& file, const Planned& planned) {
  const memory::pools::Plan& plan = planned.plan;
  const int64_t peak = plan.peak_bytes(), lower_bound = plan.lower_bound_bytes();
  nlohmann::ordered_json out = {{"peak", peak},
                                {"lower_bound", lower_bound},
                                {"proved", peak == lower_bound},
                                {"gap", gap(peak, lower_bound)},
                                {"seconds", planned.seconds},
                                {"planner", command.planner},
                                {"placements", plan.num_placements}};
  for (const char* list : {"offsets", "pools", "buffers"}) out[list] = nlohmann::ordered_json::array();
  for (const PoolLayout& pool : plan.pools) {
    nlohmann::ordered_json& json = out["pools"].emplace_back();
    json = {{"name", pool.pool.name}, {"peak", pool.peak_bytes}, {"lower_bound", pool.lower_bound_bytes}};
    if (pool.pool.capacity_bytes >= 0) json["capacity"] = pool.pool.capacity_bytes;
  }
  for (std::size_t b = 0; b < file.buffers.size(); ++b) {
    const memory::pools::Placement& placement = plan.buffers[b];
    nlohmann::ordered_json& json = out["buffers"].emplace_back(json_of(file.buffers[b]));
    json["in"] = plan.pools[placement.pool].pool.name;
    json["at"] = placement.offset_bytes;
    json["spilled"] = placement.is_spilled;
    out["offsets"].push_back(placement.offset_bytes);
  }
  const auto other_bytes = nlohmann::ordered_json::error_handler_t::replace;  // names may be no UTF-8
  return out.dump(-1, ' ', false, other_bytes) + "\n";
}

std::string line_of(const memory::pools::Plan& plan, std::size_t number) {
  const PoolLayout& pool = plan.pools[number];
  int64_t buffers = 0, spilled = 0;
  for (const memory::pools::Placement& buffer : plan.buffers) {
    buffers += buffer.pool == number ? 1 : 0;
    spilled += buffer.pool == number && buffer.is_spilled ? 1 : 0;
  }
  const std::string& name = pool.pool.name;
  std::string out =
      str(name, name.empty() ? "" : ": ", "peak ", pool.peak_bytes, ", lower bound ", pool.lower_bound_bytes, ": ");
  out += pool.is_proved()
             ? "no plan is smaller"
             : str("at most ", fixed_text(100 * gap(pool.peak_bytes, pool.lower_bound_bytes), 2), " % too large");
  out += str("; ", buffers, buffers == 1 ? " buffer" : " buffers");
  return spilled == 0 ? out : out + str(", ", spilled, " spilled");
}

std::string text(const PlanCommand& command, const Planned& planned) {
  std::string out;
  for (std::size_t p = 0; p < planned.plan.pools.size(); ++p) out += str(p == 0 ? "" : "\n", line_of(planned.plan, p));
  if (planned.plan.pools.empty()) out = "no buffers";
  return out + str(planned.plan.pools.size() > 1 ? "\n" : ", ", command.planner, ", ", fixed_text(planned.seconds, 3),
                   " s\n");
}

/// One pool above the other.
std::string html(const PlanCommand& command, const BufferFile& file, const memory::pools::Plan& plan) {
  explain::Page page{
      .title = command.file, .arena_bytes = plan.peak_bytes(), .lower_bound_bytes = plan.lower_bound_bytes()};
  std::vector<int64_t> begin;
  for (int64_t bytes = 0; const PoolLayout& pool : plan.pools) {
    begin.push_back(bytes);
    bytes += pool.peak_bytes;
  }
  const bool has_entries = std::ranges::any_of(file.buffers, [](const Buffer& b) { return !b.entry.empty(); });
  for (std::size_t i = 0; i < file.buffers.size(); ++i) {
    const Buffer& buffer = file.buffers[i];
    const memory::pools::Placement& placement = plan.buffers[i];
    const std::string& pool = plan.pools[placement.pool].pool.name;
    page.buffers.push_back({.name = buffer.name,
                            .reason = !buffer.base.empty()    ? str("lies in ", buffer.base)
                                      : placement.is_spilled  ? str("is spilled into ", pool)
                                      : buffer.offset         ? "is pinned there"
                                      : plan.pools.size() > 1 ? str("lies in ", pool)
                                                              : "",
                            .bytes = buffer.size,
                            .offset = begin[placement.pool] + placement.offset_bytes,
                            .begin = has_entries ? placement.live.begin : buffer.lower,
                            .end = has_entries ? placement.live.end : buffer.upper});
  }
  return explain::page_html(page);
}

int run_plan(const PlanCommand& command) {
  const BufferFile file = read_buffers(command.file);
  const Planned plan = planned(command, file);
  std::cout << (command.json ? json_text(command, file, plan) : text(command, plan));
  if (!std::cout.flush()) throw Error(ErrorCode::invalid_file, {}, "standard output cannot be written");
  if (!command.html.empty()) write_file(command.html, html(command, file, plan.plan));
  for (const PoolLayout& pool : plan.plan.pools) {
    if (pool.fits()) continue;
    std::cerr << str("no plan within ", pool.pool.capacity_bytes, " was found",
                     pool.pool.name.empty() ? "" : str(" for ", pool.pool.name), "\n");
  }
  return plan.plan.fits() ? kDone : kFailed;
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
