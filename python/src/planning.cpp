#include "planning.h"

#include <chrono>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array_form.h"
#include "compiler/origins.h"
#include "explain.h"
#include "explain/memory_map.h"
#include "interrupt.h"
#include "support/fork_gate.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

std::string text_of(nb::handle value, const std::string& what) {
  const char* utf8 = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8(value.ptr()) : nullptr;
  if (utf8 != nullptr) return utf8;
  PyErr_Clear();
  throw Error(ErrorCode::wrong_dtype, {}, str(what, " is ", kind_of(value.ptr()), ", and no text"));
}

int64_t whole_number(nb::handle value, const std::string& what, ErrorCode too_large = ErrorCode::size_overflow) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    throw Error(ErrorCode::wrong_dtype, {}, str(what, " is ", kind_of(value.ptr()), ", and no whole number"));
  }
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) throw Error(too_large, {}, str(what, " does not fit in 64 bits"));
  return number;
}

/// None of None.
memory::Sizes sizes_of(nb::handle dict) {
  memory::Sizes out;
  if (dict.is_none()) return out;
  if (!PyDict_Check(dict.ptr())) {
    throw Error(ErrorCode::wrong_dtype, {}, str("sizes are given as a dict by name, not as ", kind_of(dict.ptr())));
  }
  for (auto [name, size] : nb::borrow<nb::dict>(dict)) {
    const std::string text = text_of(name, "the name of a size");
    out.emplace_back(text, whole_number(size, str("the size ", text)));
  }
  return out;
}

/// What a Python function makes of the storages. Its own exceptions stay what they are.
PlannerFunction custom_planner(PyObject* function) {
  return [function](std::span<const StorageToPlace> storages) {
    const ForkGate::Outside outside;  // who has the GIL may be about to fork
    const nb::gil_scoped_acquire gil;
    nb::list rows;
    for (const StorageToPlace& s : storages)
      rows.append(nb::make_tuple(s.name, s.size_bytes, s.alignment_bytes, s.begin, s.end));
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

Planned static_plan(const Program& program) {
  Planned out{program.plan.layouts, {}, program.plan.planning_seconds};
  add_segments(program, out, [&](int segment) {
    return memory::storages_up_to(program.plan.sharing, segment, program.plan.upper_bounds);
  });
  return out;
}

void refuse_above_upper_bounds(const Program& program, const IdMap<SymbolId, int64_t>& sizes) {
  const auto& most = program.plan.upper_bounds;
  for (SymbolId s : ids<SymbolId>(most.size())) {
    if (most[s] < 0 || sizes[s] <= most[s]) continue;
    throw Error(ErrorCode::upper_bound, {},
                str(program.kernels.symbol_names()[s], " is ", sizes[s], ", but the program was compiled for at most ",
                    most[s]));
  }
}

/// With the layouts that a call of these sizes gets: those that the code has, where it has any.
Planned plan_for(const Program& program, const memory::PlannerOptions& options, const memory::Sizes& sizes) {
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

int32_t tick(nb::handle value, const std::string& name) {
  const int64_t number = whole_number(value, str("the life of ", name));
  if (number == static_cast<int32_t>(number)) return static_cast<int32_t>(number);
  throw Error(ErrorCode::size_overflow, {}, str("the life of ", name, " does not fit in 32 bits"));
}

/// A problem of planning by itself; each row is (name, size, alignment, lower, upper, offset or -1).
nb::dict plan_buffers(const std::vector<nb::tuple>& rows, const std::string& planner, nb::handle custom,
                      int64_t budget_ms, int64_t capacity) {
  std::vector<memory::Storage> storages;
  for (const nb::tuple& row : rows) {
    const std::string name = text_of(row[0], str("the name of buffer ", storages.size()));
    storages.push_back({.live = {tick(row[3], name), tick(row[4], name)},
                        .size_bytes = whole_number(row[1], str("the size of ", name)),
                        .alignment_bytes = whole_number(row[2], str("the alignment of ", name)),
                        .pinned_bytes = whole_number(row[5], str("the offset of ", name)),
                        .name = name});
  }
  const memory::PlannerOptions options = planning(planner, custom, nb::dict());
  const auto begin = std::chrono::steady_clock::now();
  memory::Layout layout;
  unless_interrupted([&] {
    const ForkGate::Inside inside;
    const memory::Effort effort{options.planner, budget_ms, capacity};
    layout = options.custom ? memory::plan_custom(options.custom, storages) : memory::plan(effort, storages);
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  nb::dict out = layout_dict(layout.arena_bytes, layout.lower_bound_bytes, seconds);
  out["offsets"] = layout.offset_bytes;
  return out;
}

}  // namespace

memory::PlannerOptions planning(const std::string& planner, nb::handle custom, nb::dict upper_bounds) {
  memory::PlannerOptions out = Options().planning;
  if (!planner.empty()) out.planner = memory::planner_named(planner, "planner");
  if (!custom.is_none()) out.custom = custom_planner(custom.ptr());
  out.upper_bounds = sizes_of(upper_bounds);
  return out;
}

nb::object plan_of(const Program& program, const memory::PlannerOptions& options, nb::object sizes) {
  if (!program.plan.is_static && sizes.is_none()) return nb::none();
  const Planned plan = plan_for(program, options, sizes_of(sizes));
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

std::string memory_page(const Program& program, const memory::PlannerOptions& options, const std::string& title,
                        nb::object sizes) {
  const explain::PageWords words = page_words(program, title);
  const memory::Sizes given = sizes_of(sizes);
  memory::MemoryPlan plan = program.plan;
  plan.layouts = plan_for(program, options, given).layouts;
  // One layout for all sizes is shown with the most that each may be.
  if (plan.is_static) return explain::page_html(explain::memory_page(program.kernels, plan, words));
  plan.is_static = true;
  const IdMap<SymbolId, int64_t> symbols = memory::sizes_by_symbol(program.kernels, given);
  return explain::page_html(
      explain::memory_page(program.kernels, plan, words, std::span<const int64_t>(symbols.begin(), symbols.end())));
}

void bind_planning(nb::module_& m) {
  m.def("plan_buffers", plan_buffers, "rows"_a, "planner"_a = "", "custom"_a = nb::none(), "budget_ms"_a = -1,
        "capacity"_a = 0);
}

}  // namespace inlay::python
