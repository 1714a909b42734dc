#include "transform/lay_temporaries.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>

#include "kernel/visit.h"
#include "transform/axis_strides.h"
#include "transform/order_axes.h"
#include "transform/share_rows.h"
#include "transform/traffic.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using kernel::Subscript;

namespace {

// Each round tries what the one before has left.
constexpr int kMostRounds = 3;

/// One loop alone writes it, at one place for each point, and loops alone read it.
Movable find_movable(const KernelProgram& program) {
  IdMap<BufferId, int> names = kernel::count_names(program), writes(program.buffers.size(), 0);
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) continue;
    for (const kernel::KernelOutput& output : kernel->outputs) {
      names[output.buffer] -= output.start.kind != kernel::Start::Kind::copy;
    }
    for (const Stage& stage : kernel->stages) {
      for (const Statement& s : stage.statements) {
        if (!s.has_place()) continue;
        --names[s.buffer];
        if (s.is_write()) writes[s.buffer] += kernel->outer.empty() && s.always_sets() && !s.map.has_index() ? 1 : 2;
      }
    }
  }
  Movable out;
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    const kernel::Buffer& buffer = program.buffers[b];
    if (buffer.role == kernel::Role::temporary && !buffer.view_of.valid() && names[b] == 0 && writes[b] == 1) {
      out.insert(b);
    }
  }
  return out;
}

/// The dims of what a stage writes at `map`, in the order in which it passes them; none where that says nothing.
std::optional<std::vector<std::size_t>> dims_as_passed(const kernel::AccessMap& map,
                                                       const std::vector<std::size_t>& order) {
  std::vector<std::size_t> at(map.subscripts.size());  // by dim, when its axis comes
  for (std::size_t dim = 0; dim < at.size(); ++dim) {
    const Subscript& subscript = map.subscripts[dim];
    if (subscript.axes.size() > 1) return std::nullopt;
    if (subscript.axes.empty()) continue;
    const auto axis = std::ranges::find(order, static_cast<std::size_t>(subscript.axes[0].axis));
    at[dim] = static_cast<std::size_t>(axis - order.begin());
  }
  std::vector<std::size_t> dims(at.size());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  std::ranges::stable_sort(dims, {}, [&](std::size_t dim) { return at[dim]; });
  if (at.empty() || at[dims.back()] + 1 != order.size() || dims.back() + 1 == dims.size()) return std::nullopt;
  return dims;
}

template <class T>
void reorder(std::vector<T>& things, const std::vector<std::size_t>& order) {
  std::vector<T> now;
  for (std::size_t i : order) now.push_back(std::move(things[i]));
  things = std::move(now);
}

void reorder_dims(KernelProgram& program, BufferId buffer, const std::vector<std::size_t>& dims) {
  reorder(program.buffers[buffer].dims, dims);
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) continue;
    for (Stage& stage : kernel->stages) {
      for (Statement& s : stage.statements) {
        if (s.has_place() && s.buffer == buffer) reorder(s.map.subscripts, dims);
      }
    }
  }
}

/// Have the loop that makes a temporary and folds it, and one that reads it as it lay, an axis to share, with the axis
/// `last` along the vectors of the first? Then what is handed on is as large as the rest of the axes, and it is worth
/// while that it is read across.
bool leaves_rows_to_share(const Stage& stage, const Statement& made, std::size_t last) {
  const auto folds = [](const Statement& s) { return s.kind == Statement::Kind::fold; };
  const auto all_folds_vary = [&](std::size_t axis) {
    return std::ranges::all_of(
        stage.statements, [&](const Statement& s) { return !folds(s) || s.map.uses_axis(static_cast<int>(axis)); });
  };
  const auto is_shared = [&](std::size_t axis) {
    const bool lies_last = made.map.subscripts.back().is_told_by(static_cast<int>(axis));
    return axis != last && !lies_last && made.map.uses_axis(static_cast<int>(axis)) && all_folds_vary(axis);
  };
  const auto axes = std::views::iota(std::size_t{0}, stage.axes.size());
  return std::ranges::any_of(stage.statements, folds) && all_folds_vary(last) && std::ranges::any_of(axes, is_shared);
}

/// A buffer, and the order of its dims that suits the loop that makes it.
struct Layout {
  BufferId buffer;
  std::vector<std::size_t> dims;
};

std::vector<Layout> find_layouts(const KernelProgram& program) {
  std::vector<Layout> out;
  const Movable movable = find_movable(program);
  if (movable.empty()) return out;
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel || !kernel->outer.empty()) continue;
    for (const Stage& stage : kernel->stages) {
      const auto makes_movable = [&](const Statement& s) { return s.is_write() && movable.contains(s.buffer); };
      if (stage.axes.size() < 3 || std::ranges::none_of(stage.statements, makes_movable)) continue;
      if (!may_permute_axes(stage)) continue;
      const std::vector<std::size_t> order = AxisStrides(program, stage, movable).best_order();
      for (const Statement& s : stage.statements) {
        if (!makes_movable(s)) continue;
        const auto dims = dims_as_passed(s.map, order);
        if (dims && leaves_rows_to_share(stage, s, order.back())) out.push_back({s.buffer, *dims});
      }
    }
  }
  return out;
}

/// With these layouts, what becomes of the program's loops?
KernelProgram joined_with(const std::vector<Layout>& layouts, KernelProgram program, const Trial& trial) {
  for (const Layout& layout : layouts) reorder_dims(program, layout.buffer, layout.dims);
  return joined(trial, trial.run("order-axes", order_axes, std::move(program)));
}

/// Leaves the layouts that pay: with them one kernel does all with the temporary, and no more is moved than without. A
/// whole array that another loop reads across no longer lies in the bytes of what that loop makes: it pays only where
/// kernels are fewer for it, and less is moved.
void keep_what_pays(std::vector<Layout>& layouts, const KernelProgram& program, const LoopPassContext& context) {
  if (layouts.empty()) return;
  const Trial trial(context);
  std::array versions = {joined_with({}, program, trial), KernelProgram()};
  for (int round = 0; round < kMostRounds; ++round) {
    versions[1] = joined_with(layouts, program, trial);
    const std::vector<TrafficByBuffer> traffic = traffic_by_part(versions);
    const IdMap<BufferId, int> num_users = kernel::count_users(versions[1]);
    const auto pays = [&](const Layout& layout) {
      const Traffic &without = traffic[0][layout.buffer], &with = traffic[1][layout.buffer];
      if (num_users[layout.buffer] == 1) return !without.is_less_than(with);
      return with.kernels < without.kernels && with.moves_less_than(without);
    };
    if (std::erase_if(layouts, std::not_fn(pays)) == 0) return;  // what is left was tried without others
    if (layouts.empty()) return;
  }
  layouts.clear();
}

}  // namespace

KernelProgram lay_temporaries(KernelProgram program, LoopPassContext& context) {
  std::vector<Layout> layouts = find_layouts(program);
  keep_what_pays(layouts, program, context);
  for (const Layout& layout : layouts) {
    if (context.fires()) reorder_dims(program, layout.buffer, layout.dims);
  }
  return program;
}

}  // namespace inlay::transform
