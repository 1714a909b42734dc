#include "transform/order_axes.h"

#include <algorithm>

#include "transform/axis_strides.h"

namespace inlay::transform {

using kernel::AxisTerm;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using kernel::Subscript;

namespace {

bool is_running(const Statement& s) { return s.kind == Statement::Kind::fold && s.result.valid(); }

}  // namespace

void renumber_axes(Stage& stage, std::span<const int> now) {
  for (Statement& s : stage.statements) {
    if (s.kind == Statement::Kind::axis) s.axis = now[static_cast<std::size_t>(s.axis)];
    for (Subscript& subscript : s.map.subscripts) {
      for (AxisTerm& term : subscript.axes) term.axis = now[static_cast<std::size_t>(term.axis)];
      std::ranges::sort(subscript.axes, {}, &AxisTerm::axis);
    }
  }
}

void permute_axes(Stage& stage, std::span<const std::size_t> order) {
  std::vector<int> place_of(order.size());
  std::vector<Dim> extents;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place_of[order[i]] = static_cast<int>(i);
    extents.push_back(stage.axes[order[i]].extent);
  }
  for (std::size_t i = 0; i < order.size(); ++i) stage.axes[i].extent = extents[i];  // i is the outermost again
  renumber_axes(stage, place_of);
}

bool order_shows(const Stage& stage) {
  return std::ranges::any_of(stage.statements, [](const Statement& s) {
    const bool through_index = s.is_write() && s.map.has_index();
    return s.can_fail() || (through_index && (!s.accumulates() || is_half(s.dtype)));
  });
}

bool may_permute_axes(const Stage& stage) {
  return !order_shows(stage) && std::ranges::none_of(stage.statements, is_running);
}

KernelProgram order_axes(KernelProgram program, LoopPassContext& context) {
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel || !kernel->outer.empty()) continue;
    for (Stage& stage : kernel->stages) {
      if (stage.axes.size() < 2 || !may_permute_axes(stage)) continue;
      const std::vector<std::size_t> order = AxisStrides(program, stage).best_order();
      if (!std::ranges::is_sorted(order) && context.fires()) permute_axes(stage, order);
    }
  }
  return program;
}

}  // namespace inlay::transform
