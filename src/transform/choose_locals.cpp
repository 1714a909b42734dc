#include "transform/choose_locals.h"

#include <algorithm>
#include <bit>
#include <ranges>

#include "kernel/tiles.h"
#include "kernel/visit.h"
#include "ops/scalar_op.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Subscript;

namespace {

/// Is there one stage that passes the points of rows, of no known number, beside others that have a number of each
/// row?
bool makes_numbers_of_short_rows(const Kernel& kernel) {
  const auto passes_points = [](const Stage& stage) { return !stage.axes.empty() && !stage.once; };
  const auto stage = std::ranges::find_if(kernel.stages, passes_points);
  return kernel.stages.size() > kernel.num_once() + 1 && std::ranges::count_if(kernel.stages, passes_points) == 1 &&
         stage->axes.size() == 1 && !stage->axes[0].extent.is_constant();
}

/// Do the columns of a tile have one stage that passes rows, beside others that have a number of each column?
bool passes_rows_once(const Kernel& kernel) {
  const auto passes_rows = [](const Stage& stage) { return stage.tile_at > 0; };
  const auto stage = std::ranges::find_if(kernel.stages, passes_rows);
  return std::ranges::count_if(kernel.stages, passes_rows) == 1 && stage->tile_at == 1;
}

/// What each outer point of a kernel can have for itself.
class Locals {
 public:
  explicit Locals(KernelProgram& program) : program_(program), num_users_(kernel::count_users(program)) {
    for (const kernel::Buffer& buffer : program_.buffers) {
      if (buffer.view_of.valid()) num_users_[root_of(program_, buffer.view_of)] = 2;
    }
  }

  struct Found {
    KernelOutput* output;
    std::vector<std::size_t> dims;  // by outer axis: the dim of the buffer that counts its points
  };

  /// One output, or those that hold the states of a fold: they are at one place, so all are local or none.
  using Together = std::vector<Found>;

  std::vector<Together> find(Kernel& kernel) const {
    std::vector<Found> found;
    for (KernelOutput& output : kernel.outputs) {
      const kernel::Buffer& buffer = program_.buffers[output.buffer];
      const bool is_private = buffer.role == kernel::Role::temporary && num_users_[output.buffer] == 1;
      if (!is_private || output.start.kind == Start::Kind::copy) continue;
      std::vector<std::size_t> dims = outer_dims(kernel, output.buffer);
      if (dims.size() == kernel.outer.size()) found.push_back({&output, std::move(dims)});
    }
    const auto is_found = [&](BufferId b) {
      return std::ranges::any_of(found, [&](const auto& each) { return each.output->buffer == b; });
    };
    const std::vector<States> folds = states_of_folds(kernel);
    for (const States& states : folds) {
      if (std::ranges::all_of(states, is_found)) continue;
      std::erase_if(found, [&](const auto& each) { return holds(states, each.output->buffer); });
    }
    return together(std::move(found), folds);
  }

  void make_local(Kernel& kernel, const Found& found) { make_local(kernel, *found.output, found.dims); }

 private:
  using States = std::vector<BufferId>;
  static bool holds(const States& states, BufferId b) { return std::ranges::find(states, b) != states.end(); }

  static std::vector<Together> together(std::vector<Found> found, const std::vector<States>& folds) {
    const auto are_of_one_fold = [&](BufferId a, BufferId b) {
      return std::ranges::any_of(folds, [&](const States& states) { return holds(states, a) && holds(states, b); });
    };
    std::vector<Together> out;
    for (Found& each : found) {
      const auto others = std::ranges::find_if(
          out, [&](const Together& one) { return are_of_one_fold(one.front().output->buffer, each.output->buffer); });
      Together& joined = others == out.end() ? out.emplace_back() : *others;
      joined.push_back(std::move(each));
    }
    return out;
  }

  static std::vector<States> states_of_folds(const Kernel& kernel) {
    std::vector<States> out;
    for (const Stage& stage : kernel.stages) {
      for (std::size_t i = 0; i < stage.statements.size(); ++i) {
        const std::span<const Statement> stored = states_with(stage, i);
        if (!stage.statements[i].opens_fold() || stored.size() == 1) continue;  // one is together with no other
        States& states = out.emplace_back();
        for (const Statement& s : stored) states.push_back(s.buffer);
      }
    }
    return out;
  }

  /// By outer axis: the dim of the buffer that counts its points, everywhere.
  static std::vector<std::size_t> outer_dims(const Kernel& kernel, BufferId buffer) {
    std::vector<std::size_t> out;
    for (std::size_t axis = 0; axis < kernel.outer.size(); ++axis) {
      std::vector<bool> counts;
      for (const Stage& stage : kernel.stages) {
        for (const Statement& s : stage.statements) {
          if (!s.has_place() || s.buffer != buffer) continue;
          counts.resize(s.map.subscripts.size(), true);
          int uses = 0;
          for (std::size_t d = 0; d < counts.size(); ++d) {
            counts[d] = counts[d] && s.map.subscripts[d] == axis_alone(static_cast<int>(axis));
            uses += std::ranges::count(s.map.subscripts[d].axes, static_cast<int>(axis), &kernel::AxisTerm::axis);
          }
          if (uses != 1) return {};  // a tile's own dim counts from where the tile begins, the others do not
        }
      }
      const auto found = std::ranges::find(counts, true);
      if (found == counts.end()) return {};
      out.push_back(static_cast<std::size_t>(found - counts.begin()));
    }
    return out;
  }

  static Subscript axis_alone(int axis) {
    Subscript out;
    out.base = 0;
    out.axes.push_back({axis, 1});
    return out;
  }

  void make_local(Kernel& kernel, KernelOutput& output, const std::vector<std::size_t>& dims) {
    output.is_local = true;
    const auto is_tiled_axis = [&](std::size_t axis) {
      return kernel.is_tiled() && static_cast<int>(axis) == kernel.tiled_axis();
    };
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      Dim& dim = program_.buffers[output.buffer].dims[dims[axis]];
      dim = is_tiled_axis(axis) ? min(kernel.outer[axis].extent, Dim(kernel.tile)) : Dim(1);
    }
    for (Stage& stage : kernel.stages) {
      for (Statement& s : stage.statements) {
        if (!s.has_place() || s.buffer != output.buffer) continue;
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
          if (!is_tiled_axis(axis)) s.map.subscripts[dims[axis]] = Subscript{};
        }
      }
    }
  }

  KernelProgram& program_;
  IdMap<BufferId, int> num_users_;  // steps that touch it; more where it has views
};

/// Does a stage load what an earlier one folds?
bool goes_on_with_fold(const Kernel& kernel) {
  std::vector<BufferId> folded;
  for (const Stage& stage : kernel.stages) {
    for (const Statement& s : stage.statements) {
      const bool loads = s.kind == Statement::Kind::load;
      if (loads && std::ranges::find(folded, s.buffer) != folded.end()) return true;
    }
    for (const Statement& s : stage.statements) {
      if (s.kind == Statement::Kind::fold) folded.push_back(s.buffer);
    }
  }
  return false;
}

/// Are there sums of columns, which a row by itself would read from memory and write to it? (The HSGP of the examples,
/// rows of 30, us: 20.5, by tiles of 32 15.5; long rows lose by tiles, 1000 x 500 121, so 136.)
bool sums_columns(const Kernel& kernel) {
  const auto row = static_cast<int>(kernel.outer.size()) - 1;
  return std::ranges::any_of(kernel.stages, [&](const Stage& stage) {
    return !stage.once && std::ranges::any_of(stage.statements, [&](const Statement& s) {
      const auto has_axis = [&](std::size_t i) { return s.map.uses_axis(row + 1 + static_cast<int>(i)); };
      const auto axes = std::views::iota(std::size_t{0}, stage.axes.size());
      return s.kind == Statement::Kind::fold && !s.map.uses_axis(row) && std::ranges::any_of(axes, has_axis);
    });
  });
}

/// Of short rows more: what is made once for each row takes several vectors then, which do not wait for each other, and
/// the sums of columns, which lie in memory, are read and written once in a tile. Not so many that they leave the first
/// cache. (A regression by sums, 2000 rows, us by tiles of 8, 16, 32, 64: rows of 8 numbers 12.0, 7.7, 6.7, 6.0; of 20
/// 15.5, 10.8, 10.4, 9.6; of 60 29.7, 26.1, 25.5, 25.6; of 200 68, 64, 69, 79; a log-softmax of rows of 128 120, 124,
/// 133, 134.)
int64_t rows_of_tile(const Kernel& kernel, const kernel::BackendCaps& caps) {
  Dim longest = 1;
  for (const Stage& stage : kernel.stages) {
    if (!stage.once) longest = max(longest, points_of_row(stage));
  }
  if (!longest.is_constant()) return caps.tile_of_rows;
  const auto fit = static_cast<uint64_t>(caps.elements_of_tile / longest.constant());
  return std::clamp(static_cast<int64_t>(std::bit_floor(fit)), caps.tile_of_rows / 2, caps.tile_of_rows * 2);
}

}  // namespace

bool is_expensive(const Statement& s) { return s.kind == Statement::Kind::op && facts(s.op).cost > kCostOfRoot; }

Dim points_of_row(const Stage& stage) {
  Dim points = 1;
  for (const kernel::Axis& axis : stage.axes) points = points * axis.extent;
  return points;
}

int64_t tile_of(const Kernel& kernel, const kernel::BackendCaps& caps) {
  const auto is_expensive_alone = [](const Stage& stage) {
    return !stage.once && stage.axes.empty() && std::ranges::any_of(stage.statements, is_expensive);
  };
  if (kernel.outer.empty()) return kernel.tile;
  if (kernel.is_tiled()) return passes_rows_once(kernel) ? caps.wide_tile : kernel.tile;
  if (makes_numbers_of_short_rows(kernel) || kernel::folds_rows_again(kernel)) return caps.tile_of_numbers;
  const int64_t tile = rows_of_tile(kernel, caps);
  const bool are_short = tile > caps.tile_of_rows;
  const bool pays = std::ranges::any_of(kernel.stages, is_expensive_alone) || (are_short && sums_columns(kernel));
  return pays ? tile : 1;
}

KernelProgram choose_locals(KernelProgram program, LoopPassContext& context) {
  Locals locals(program);
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel || (kernel->outer.empty() && !goes_on_with_fold(*kernel))) continue;
    const int64_t tile = tile_of(*kernel, context.caps);
    if (tile != kernel->tile && context.fires()) kernel->tile = tile;
    for (const Locals::Together& together : locals.find(*kernel)) {
      if (!context.fires()) continue;
      for (const Locals::Found& found : together) locals.make_local(*kernel, found);
    }
  }
  return program;
}

}  // namespace inlay::transform
