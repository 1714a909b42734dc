#include "transform/stretched_rows.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernel/dim_proof.h"
#include "transform/join.h"
#include "transform/order_axes.h"

namespace inlay::transform {

using kernel::AxisTerm;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::SizeCheck;
using kernel::Stage;
using kernel::Statement;
using kernel::Subscript;

namespace {

/// The step at which the stage goes along the rows of `first`.
std::optional<Dim> step_along_rows(const KernelProgram& program, const Kernel& first, const Stage& stage, int axis) {
  for (const Statement& s : stage.statements) {
    if (s.kind != Statement::Kind::load || !writes(program, first, s.buffer)) continue;
    for (const Subscript& at : s.map.subscripts) {
      const std::optional<Dim> step = kernel::stretching_step(at);
      if (step && at.axes[0].axis == axis) return step;
    }
  }
  return std::nullopt;
}

/// A check of the number of rows itself: of an array of which `first` writes a part it says nothing of that part.
bool say_that_rows_fit(std::span<const SizeCheck> checks, const Dim& step, const Dim& rows, const Dim& points) {
  return std::ranges::any_of(checks, [&](const SizeCheck& check) {
    return check.relation == DimCheck::Relation::equal && (check.left == rows || check.right == rows) &&
           kernel::is_at_most_or_one(rows, points, step, check.left, check.right);
  });
}

/// The subscript, where point i of `axis` is the sum of the points of `axis` and of `beside`, of which one is 0.
void split(Subscript& at, int axis, int beside, const Dim& step) {
  const auto found = std::ranges::find(at.axes, axis, &AxisTerm::axis);
  if (found == at.axes.end()) return;
  const Dim along = found->step;
  found->step = kernel::where(along, {&step, 1}, 1);
  if (const Dim by = kernel::where(along, {&step, 1}, 0); !by.is(0)) at.axes.push_back({beside, by});
  std::ranges::sort(at.axes, {}, &AxisTerm::axis);
}

bool uses_as_number(const Stage& stage, int axis) {
  return std::ranges::any_of(stage.statements,
                             [&](const Statement& s) { return s.kind == Statement::Kind::axis && s.axis == axis; });
}

/// How a stage goes along the rows of another kernel: along each leading axis at a step of 0 or 1, or point by point.
using StepsAlongRows = std::vector<std::optional<Dim>>;

/// None where it goes along other rows, or along none that way.
std::optional<StepsAlongRows> steps_along_rows(const KernelProgram& program, const Kernel& first, const Stage& stage,
                                               std::span<const Dim> rows, std::span<const SizeCheck> checks) {
  if (stage.axes.size() < rows.size()) return std::nullopt;
  StepsAlongRows out(rows.size());
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    const Dim& points = stage.axes[axis].extent;
    if (points == rows[axis]) continue;
    out[axis] = step_along_rows(program, first, stage, static_cast<int>(axis));
    const bool fits = out[axis] && say_that_rows_fit(checks, *out[axis], rows[axis], points);
    if (!fits || uses_as_number(stage, static_cast<int>(axis))) return std::nullopt;
  }
  return out;
}

/// Point i of an axis that is split is row r and t points on from there. Where the step is 1, t is 0; where it is 0, r
/// is: so step * i is r.
void go_over_rows(Stage& stage, std::span<const Dim> rows, const StepsAlongRows& steps) {
  const auto num_split = std::ranges::count_if(steps, &std::optional<Dim>::has_value);
  std::vector<int> now(stage.axes.size());
  std::iota(now.begin(), now.end(), 0);
  for (std::size_t axis = rows.size(); axis < now.size(); ++axis) now[axis] += static_cast<int>(num_split);
  renumber_axes(stage, now);
  auto beside = static_cast<std::ptrdiff_t>(rows.size());
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    if (!steps[axis]) continue;
    const Dim points = std::exchange(stage.axes[axis].extent, rows[axis]);
    stage.axes.insert(stage.axes.begin() + beside, {"", points - rows[axis] + 1});
    for (Statement& s : stage.statements) {
      for (Subscript& at : s.map.subscripts) {
        split(at, static_cast<int>(axis), static_cast<int>(beside), *steps[axis]);
      }
    }
    ++beside;
  }
}

}  // namespace

std::optional<Kernel> over_rows_of(const KernelProgram& program, const Kernel& first, const Kernel& second,
                                   std::span<const SizeCheck> checks) {
  if (!second.outer.empty() || first.is_tiled()) return std::nullopt;
  std::vector<Dim> rows = axis_extents(first, first.stages.front());
  const std::size_t count = std::max<std::size_t>(first.outer.size(), 1);
  if (rows.size() < count) return std::nullopt;
  rows.resize(count);
  Kernel out = second;
  bool any = false;
  for (Stage& stage : out.stages) {
    const std::optional<StepsAlongRows> steps = steps_along_rows(program, first, stage, rows, checks);
    if (!steps) return std::nullopt;
    any |= std::ranges::any_of(*steps, &std::optional<Dim>::has_value);
    go_over_rows(stage, rows, *steps);
  }
  if (!any) return std::nullopt;
  return out;
}

}  // namespace inlay::transform
