#include "planning.h"

#include <chrono>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "array_form.h"
#include "compiler/origins.h"
#include "explain.h"
#include "explain/memory_map.h"
#include "from_python.h"
#include "gil.h"
#include "interrupt.h"
#include "memory/pools/problem.h"
#include "support/fork_gate.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

/// What a Python function makes of the storages. Its own exceptions stay what they are. `times`: what ticks stand for,
/// where they are not the times themselves.
PlannerFunction custom_planner(PyObject* function, std::vector<int64_t> times = {}) {
  return [function, times](std::span<const StorageToPlace> storages) {
    const ForkGate::Outside outside;  // who has the GIL may be about to fork
    const TakenGil gil;
    const auto time = [&](int32_t tick) { return times.empty() ? tick : times[static_cast<std::size_t>(tick)]; };
    nb::list rows;
    for (const StorageToPlace& s : storages)
      rows.append(nb::make_tuple(s.name, s.size_bytes, s.alignment_bytes, time(s.begin), time(s.end)));
    std::vector<int64_t> offsets;
    for (nb::handle offset : nb::borrow(function)(rows)) {
      const std::string name = offsets.size() < storages.size() ? storages[offsets.size()].name : "one more";
      offsets.push_back(whole_number(offset, str("the planner's offset of ", name), ErrorCode::wrong_plan));
    }
    return offsets;
  };
}

struct Planned {
  std::vector<memory::Layout> layouts;  // by segment
  std::vector<memory::Storage> storages;
  double seconds = 0;
};

void add_segments(const EmittedProgram& program, Planned& out, const auto& storages_of) {
  const memory::Sharing& sharing = program.plan.sharing;
  out.storages.resize(sharing.storages.size());
  for (int segment = 0; segment < sharing.num_segments(); ++segment) {
    std::vector<memory::Storage> storages = storages_of(segment);
    for (std::size_t s = 0; s < storages.size(); ++s) {
      if (memory::is_placed(storages[s])) out.storages[s] = std::move(storages[s]);
    }
  }
}

Planned static_plan(const EmittedProgram& program) {
  Planned out{program.plan.layouts, {}, program.plan.planning_seconds};
  add_segments(program, out, [&](int segment) {
    return memory::storages_up_to(program.plan.sharing, segment, program.plan.upper_bounds);
  });
  return out;
}

void refuse_above_upper_bounds(const EmittedProgram& program, const IdMap<SymbolId, int64_t>& sizes) {
  const auto& most = program.plan.upper_bounds;
  for (SymbolId s : ids<SymbolId>(most.size())) {
    if (most[s] < 0 || sizes[s] <= most[s]) continue;
    throw Error(ErrorCode::upper_bound, {},
                str(program.kernels.symbol_names()[s], " is ", sizes[s], ", but the program was compiled for at most ",
                    most[s]));
  }
}

/// With the layouts that a call of these sizes gets: those that the code has, where it has any.
Planned plan_for(const EmittedProgram& program, const memory::PlannerOptions& options, const memory::Sizes& sizes) {
  const auto symbols = memory::sizes_by_symbol(program.kernels, sizes);
  refuse_above_upper_bounds(program, symbols);
  if (program.plan.is_static) return static_plan(program);
  const memory::Sharing& sharing = program.plan.sharing;
  if (const auto missing = memory::missing_size(sharing, symbols)) {
    throw Error(ErrorCode::unknown_name, {},
                str("the size of ", missing->storage, " depends on ", program.kernels.symbol_names()[missing->symbol],
                    ", whose number is not given"));
  }
  Planned out;
  add_segments(program, out, [&](int segment) { return memory::storages_of_segment(sharing, segment, symbols); });
  const auto begin = std::chrono::steady_clock::now();
  for (int segment = 0; segment < sharing.num_segments(); ++segment)
    out.layouts.push_back(memory::plan(options, memory::storages_of_segment(sharing, segment, symbols)));
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

nb::dict layout_dict(int64_t peak, int64_t lower_bound, double seconds) {
  nb::dict d;
  d["peak"] = peak;
  d["lower_bound"] = lower_bound;
  d["seconds"] = seconds;
  return d;
}

std::vector<std::string> texts_of(nb::handle list, const std::string& what) {
  std::vector<std::string> out;
  for (nb::handle text : list) out.push_back(text_of(text, what));
  return out;
}

std::optional<int64_t> number_if(nb::handle value, const std::string& what) {
  return value.is_none() ? std::nullopt : std::optional(whole_number(value, what));
}

/// (name, size, lower, upper, alignment, offset or None, base, pools, cost or None, entry)
memory::pools::Buffer buffer_of(nb::handle given, std::size_t number) {
  const nb::tuple row = tuple_of(given, 10, str("buffer ", number));
  const std::string name = text_of(row[0], str("the name of buffer ", number));
  return {.name = name,
          .lower = whole_number(row[2], str("the lower of ", name)),
          .upper = whole_number(row[3], str("the upper of ", name)),
          .size = whole_number(row[1], str("the size of ", name)),
          .alignment = whole_number(row[4], str("the alignment of ", name)),
          .offset = number_if(row[5], str("the offset of ", name)),
          .base = text_of(row[6], str("the base of ", name)),
          .pools = texts_of(row[7], str("a pool of ", name)),
          .cost = number_if(row[8], str("the cost of ", name)),
          .entry = text_of(row[9], str("the entry of ", name))};
}

/// A problem of planning by itself; each pool is (name, capacity or -1).
nb::dict plan_buffers(const std::vector<nb::tuple>& rows, const std::vector<nb::tuple>& pool_rows,
                      const std::string& planner, nb::handle custom, int64_t budget_ms) {
  std::vector<memory::pools::Buffer> buffers;
  for (const nb::tuple& row : rows) buffers.push_back(buffer_of(row, buffers.size()));
  std::vector<memory::pools::Pool> pools;
  for (const nb::tuple& given : pool_rows) {
    const nb::tuple row = tuple_of(given, 2, "a pool");
    const std::string name = text_of(row[0], "the name of a pool");
    pools.push_back(
        {.name = name, .capacity_bytes = whole_number(row[1], str("the capacity", name.empty() ? "" : " of ", name))});
  }
  if (const auto mistake = memory::pools::find_mistake(buffers, pools))
    throw nb::value_error(str("inlay.plan: ", mistake->message).c_str());
  const memory::PlannerOptions options = planning(planner, nb::none(), nb::dict());
  memory::pools::PoolPlanner pool_planner =
      memory::pools::planner_of({.planner = options.planner, .budget_ms = budget_ms});
  if (!custom.is_none()) {
    const auto plan_one = [&](const memory::pools::OnePool& pool) {
      return memory::plan_custom(custom_planner(custom.ptr(), pool.times), pool.storages);
    };
    pool_planner = {.plan = plan_one, .may_fill_gaps = false};
  }
  const auto begin = std::chrono::steady_clock::now();
  memory::pools::Plan plan;
  unless_interrupted([&] {
    const ForkGate::Inside inside;
    plan = memory::pools::plan(buffers, pools, pool_planner);
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  nb::dict out = layout_dict(plan.peak_bytes(), plan.lower_bound_bytes(), seconds);
  nb::list placed, laid_out;
  for (const memory::pools::Placement& p : plan.buffers)
    placed.append(nb::make_tuple(plan.pools[p.pool].pool.name, p.offset_bytes));
  for (const memory::pools::PoolLayout& pool : plan.pools) {
    const int64_t capacity = pool.pool.capacity_bytes;
    laid_out.append(nb::make_tuple(pool.pool.name, pool.peak_bytes, pool.lower_bound_bytes,
                                   capacity < 0 ? nb::none() : nb::cast(capacity)));
  }
  out["placed"] = placed;
  out["pools"] = laid_out;
  return out;
}

}  // namespace

memory::PlannerOptions planning(const std::string& planner, nb::handle custom, nb::dict upper_bounds) {
  memory::PlannerOptions out = {.planner = planner_from_environment()};
  if (!planner.empty()) out.planner = memory::planner_named(planner, "planner");
  if (!custom.is_none()) out.custom = custom_planner(custom.ptr());
  out.upper_bounds = sizes_of(upper_bounds);
  return out;
}

namespace {

/// What is in working memory over time, by layouts for these sizes.
explain::Page page_of(const EmittedProgram& program, std::vector<memory::Layout> layouts, const std::string& title,
                      const memory::Sizes& sizes) {
  const explain::PageWords words = page_words(program, title);
  memory::MemoryPlan plan = program.plan;
  plan.layouts = std::move(layouts);
  // One layout for all sizes is shown with the most that each may be.
  if (plan.is_static) return explain::memory_page(program.kernels, plan, words);
  plan.is_static = true;
  const IdMap<SymbolId, int64_t> symbols = memory::sizes_by_symbol(program.kernels, sizes);
  return explain::memory_page(program.kernels, plan, words, std::span<const int64_t>(symbols.begin(), symbols.end()));
}

nb::list buffers_of(const explain::Page& page) {
  nb::list out;
  for (const explain::PageBuffer& buffer : page.buffers) {
    nb::dict d;
    d["name"] = buffer.name;
    d["type"] = buffer.type;
    d["bytes"] = buffer.bytes;
    d["offset"] = buffer.offset;
    d["begin"] = buffer.begin;
    d["end"] = buffer.end;
    d["storage"] = buffer.storage;
    d["made_by"] = buffer.made_by;
    d["reason"] = buffer.reason;
    out.append(d);
  }
  return out;
}

/// `base_bytes`: by segment, where its block begins.
nb::list storages_of(const EmittedProgram& program, const Planned& plan, const std::vector<int64_t>& base_bytes) {
  nb::list out;
  const auto reasons = storage_reasons(program);
  for (memory::StorageId s : ids<memory::StorageId>(plan.storages.size())) {
    const memory::Storage& storage = plan.storages[s.index];
    if (!memory::is_placed(storage)) continue;
    const auto segment = static_cast<std::size_t>(program.plan.sharing.storages[s].segment);
    out.append(nb::make_tuple(storage.name, storage.size_bytes, storage.alignment_bytes, storage.live.begin,
                              storage.live.end, base_bytes[segment] + plan.layouts[segment].offset_bytes[s.index],
                              reasons[s]));
  }
  return out;
}

}  // namespace

nb::object plan_of(const EmittedProgram& program, const memory::PlannerOptions& options, nb::object sizes) {
  if (!program.plan.is_static && sizes.is_none()) return nb::none();
  const memory::Sizes given = sizes_of(sizes);
  const Planned plan = plan_for(program, options, given);
  int64_t peak = 0, lower_bound = 0;
  std::vector<int64_t> base_bytes;  // the blocks of segments stand one above the other
  for (const memory::Layout& layout : plan.layouts) {
    base_bytes.push_back(peak);
    peak = memory::add_bytes(peak, layout.arena_bytes);
    lower_bound = memory::add_bytes(lower_bound, layout.lower_bound_bytes);
  }
  nb::dict out = layout_dict(peak, lower_bound, plan.seconds);
  out["planner"] = options.custom ? std::string("custom") : std::string(memory::planner_name(options.planner));
  out["storages"] = storages_of(program, plan, base_bytes);
  out["buffers"] = peak > 0 ? buffers_of(page_of(program, plan.layouts, "", given)) : nb::list();
  return out;
}

std::string memory_page(const EmittedProgram& program, const memory::PlannerOptions& options, const std::string& title,
                        nb::object sizes) {
  const memory::Sizes given = sizes_of(sizes);
  return explain::page_html(page_of(program, plan_for(program, options, given).layouts, title, given));
}

/// Of (entry, lower, upper): by row when it is needed, on the one line of time on which entry points follow each other.
std::vector<std::pair<int32_t, int32_t>> buffer_lives(
    const std::vector<std::tuple<std::string, int64_t, int64_t>>& rows) {
  std::vector<memory::pools::Buffer> buffers;
  for (const auto& [entry, lower, upper] : rows) buffers.push_back({.lower = lower, .upper = upper, .entry = entry});
  std::vector<std::pair<int32_t, int32_t>> out;
  std::vector<int64_t> times;
  for (const memory::Lifetime& live : memory::pools::lives_of(buffers, times)) out.emplace_back(live.begin, live.end);
  return out;
}

/// Of buffers by themselves, each (name, bytes, begin, end, offset, what it is part of, reason). `lists`: of lines
/// below it, with their headings.
std::string buffers_page(const std::string& title, const std::vector<nb::tuple>& rows, int64_t peak,
                         int64_t lower_bound,
                         const std::vector<std::pair<std::string, std::vector<std::string>>>& lists) {
  explain::Page page{.title = title, .arena_bytes = peak, .lower_bound_bytes = lower_bound};
  for (const nb::tuple& given : rows) {
    const nb::tuple row = tuple_of(given, 7, "a buffer");
    page.buffers.push_back({.name = text_of(row[0], "the name of a buffer"),
                            .storage = text_of(row[5], "the storage of a buffer"),
                            .reason = text_of(row[6], "the reason of a buffer"),
                            .bytes = whole_number(row[1], "the bytes of a buffer"),
                            .offset = whole_number(row[4], "the offset of a buffer"),
                            .begin = whole_number(row[2], "the first time of a buffer"),
                            .end = whole_number(row[3], "the last time of a buffer")});
  }
  for (const auto& [heading, lines] : lists) page.lists.push_back({heading, lines});
  return explain::page_html(page);
}

void bind_planning(nb::module_& m) {
  m.def("buffer_lives", buffer_lives, "rows"_a);
  m.def("buffers_page", buffers_page, "title"_a, "rows"_a, "peak"_a, "lower_bound"_a,
        "lists"_a = std::vector<std::pair<std::string, std::vector<std::string>>>());
  m.def("plan_buffers", plan_buffers, "rows"_a, "pools"_a, "planner"_a = "", "custom"_a = nb::none(),
        "budget_ms"_a = -1);
}

}  // namespace inlay::python
