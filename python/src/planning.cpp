#include "planning.h"

#include <chrono>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "explain.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

memory::Sizes sizes_of(nb::handle dict) {
  memory::Sizes out;
  for (auto [name, size] : nb::cast<nb::dict>(dict))
    out.emplace_back(nb::cast<std::string>(name), nb::cast<int64_t>(size));
  return out;
}

/// What a Python function makes of the storages. Its own exceptions stay what they are.
memory::CustomPlanner custom_planner(PyObject* function) {
  return [function](std::span<const memory::Storage> storages) {
    const nb::gil_scoped_acquire gil;
    nb::list rows;
    for (const memory::Storage& s : storages)
      rows.append(nb::make_tuple(s.name, s.size_bytes, s.alignment_bytes, s.live.begin, s.live.end));
    return nb::cast<std::vector<int64_t>>(nb::borrow(function)(rows));
  };
}

struct Planned {
  std::vector<memory::Layout> layouts;  // by segment
  std::vector<memory::Storage> storages;
  double seconds = 0;
};

void add_segments(const Program& program, Planned& out, const auto& storages_of) {
  const memory::Sharing& sharing = program.plan.sharing;
  out.storages.resize(sharing.storages.size());
  for (int segment = 0; segment < sharing.num_segments(); ++segment) {
    std::vector<memory::Storage> storages = storages_of(segment);
    for (std::size_t s = 0; s < storages.size(); ++s) {
      if (memory::is_placed(storages[s])) out.storages[s] = std::move(storages[s]);
    }
  }
}

/// With the layouts that the code has.
Planned static_plan(const Program& program) {
  Planned out{program.plan.layouts, {}, program.plan.planning_seconds};
  add_segments(program, out, [&](int segment) {
    return memory::storages_up_to(program.plan.sharing, segment, program.plan.upper_bounds);
  });
  return out;
}

Planned plan_for(const Program& program, const memory::PlannerOptions& options, const memory::Sizes& sizes) {
  const auto symbols = memory::sizes_by_symbol(program.kernels, sizes);
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

/// A problem of planning by itself; each row is (name, size, alignment, lower, upper, offset or -1).
nb::dict plan_buffers(const std::vector<nb::tuple>& rows, const std::string& planner, nb::handle custom,
                      int64_t budget_ms, int64_t capacity) {
  std::vector<memory::Storage> storages;
  for (const nb::tuple& row : rows) {
    storages.push_back({.live = {nb::cast<int32_t>(row[3]), nb::cast<int32_t>(row[4])},
                        .size_bytes = nb::cast<int64_t>(row[1]),
                        .alignment_bytes = nb::cast<int64_t>(row[2]),
                        .pinned_bytes = nb::cast<int64_t>(row[5]),
                        .name = nb::cast<std::string>(row[0])});
  }
  const memory::PlannerOptions options = planning(planner, custom, nb::dict());
  const auto begin = std::chrono::steady_clock::now();
  memory::Layout layout;
  {
    const nb::gil_scoped_release released;
    const memory::Effort effort{options.planner, budget_ms, capacity};
    layout = options.custom ? memory::plan_custom(options.custom, storages) : memory::plan(effort, storages);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  nb::dict out = layout_dict(layout.arena_bytes, layout.lower_bound_bytes, seconds);
  out["offsets"] = layout.offset_bytes;
  return out;
}

}  // namespace

memory::PlannerOptions planning(const std::string& planner, nb::handle custom, nb::dict upper_bounds) {
  const Options defaults;
  memory::PlannerOptions out = defaults.planning();
  if (!planner.empty()) out.planner = memory::planner_named(planner, "planner");
  if (!custom.is_none()) out.custom = custom_planner(custom.ptr());
  out.upper_bounds = sizes_of(upper_bounds);
  return out;
}

nb::object plan_of(const Program& program, const memory::PlannerOptions& options, nb::object sizes) {
  if (!program.plan.is_static && sizes.is_none()) return nb::none();
  const Planned plan = program.plan.is_static ? static_plan(program) : plan_for(program, options, sizes_of(sizes));
  int64_t peak = 0, lower_bound = 0;
  std::vector<int64_t> base_bytes;  // the blocks of segments stand one above the other
  for (const memory::Layout& layout : plan.layouts) {
    base_bytes.push_back(peak);
    peak = memory::add_bytes(peak, layout.arena_bytes);
    lower_bound = memory::add_bytes(lower_bound, layout.lower_bound_bytes);
  }
  nb::dict out = layout_dict(peak, lower_bound, plan.seconds);
  out["planner"] = options.custom ? std::string("custom") : std::string(memory::planner_name(options.planner));
  nb::list storages;
  const auto reasons = storage_reasons(program);
  for (memory::StorageId s : ids<memory::StorageId>(plan.storages.size())) {
    const memory::Storage& storage = plan.storages[s.index];
    if (!memory::is_placed(storage)) continue;
    const auto segment = static_cast<std::size_t>(program.plan.sharing.storages[s].segment);
    storages.append(nb::make_tuple(storage.name, storage.size_bytes, storage.alignment_bytes, storage.live.begin,
                                   storage.live.end, base_bytes[segment] + plan.layouts[segment].offset_bytes[s.index],
                                   reasons[s]));
  }
  out["storages"] = storages;
  return out;
}

void bind_planning(nb::module_& m) {
  m.def("plan_buffers", plan_buffers, "rows"_a, "planner"_a = "", "custom"_a = nb::none(), "budget_ms"_a = -1,
        "capacity"_a = 0);
}

}  // namespace inlay::python
