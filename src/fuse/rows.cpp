#include "fuse/rows.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "fuse/join.h"
#include "fuse/order_axes.h"
#include "ops/scalar_op.h"

namespace inlay::fuse {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Subscript;

namespace {

/// Its outer axis is the last of its arrays, and goes by tiles.
bool is_columns(const Kernel& kernel) { return kernel.is_tiled(); }

/// It goes over all points of a kernel at once.
bool folds_squares(const Statement& s) { return s.pair == kernel::Pair::squares; }

/// More than a division or a root, one number at a time.
bool is_dear(const Statement& s) {
  constexpr int kRoot = 5;
  return s.kind == Statement::Kind::op && facts(s.op).cost > kRoot;
}

bool writes(const KernelProgram& program, const Kernel& kernel, BufferId buffer) {
  const BufferId root = root_of(program, buffer);
  return std::ranges::any_of(kernel.outputs, [&](const KernelOutput& o) { return root_of(program, o.buffer) == root; });
}

bool touches(const KernelProgram& program, const Kernel& kernel, BufferId buffer) {
  const BufferId root = root_of(program, buffer);
  return writes(program, kernel, buffer) ||
         any_statement(kernel, [&](const Statement& s) { return s.has_place() && root_of(program, s.buffer) == root; });
}

/// What the kernel's outputs hold in the beginning, may they hold that before these kernels?
bool starts_can_be_earlier(const KernelProgram& program, const Kernel& kernel, std::span<const Kernel* const> before) {
  return std::ranges::all_of(kernel.outputs, [&](const KernelOutput& output) {
    if (output.start.kind == Start::Kind::keep) return true;
    const bool is_copy = output.start.kind == Start::Kind::copy;
    return std::ranges::none_of(before, [&](const Kernel* earlier) {
      return touches(program, *earlier, output.buffer) || (is_copy && writes(program, *earlier, output.start.source));
    });
  });
}

/// One pair of kernels.
class Neighbours {
 public:
  Neighbours(const KernelProgram& program, const kernel::BackendCaps& caps, const Kernel& first, const Kernel& second)
      : program_(program), caps_(caps), first_(first), second_(second) {}

  /// Does the second go on with what the first makes, and may its stages follow at once?
  bool may_follow() const {
    if (!second_reads_first() || !starts_can_be_earlier(program_, second_, std::array{&first_})) return false;
    // Which of several mistakes is found must not depend on how loops are arranged.
    return !any_statement(first_, &Statement::can_fail) || !any_statement(second_, &Statement::can_fail);
  }

  /// The most leading axes that both can share; 0: none. What has outer axes keeps them.
  std::size_t shared_axes() const {
    if (any_statement(first_, folds_squares) || any_statement(second_, folds_squares)) return 0;
    std::size_t least = 1, most = common_axes();
    if (!first_.outer.empty()) {
      least = first_.outer.size();
      most = std::min(most, least);
    }
    for (std::size_t count = most; count >= least; --count) {
      if (rows_are_long(count) && keep_to_their_rows(count) && sums_run_in_rows(count)) return count;
    }
    return 0;
  }

 private:
  bool same_root(BufferId a, BufferId b) const { return root_of(program_, a) == root_of(program_, b); }

  bool second_reads_first() const {
    return any_statement(second_, [&](const Statement& s) {
      return s.kind == Statement::Kind::load && writes(program_, first_, s.buffer);
    });
  }

  /// How many leading axes are the same in all stages.
  std::size_t common_axes() const {
    const std::vector<Dim> axes = axis_extents(first_, first_.stages.front());
    std::size_t count = axes.size();
    for (const Kernel* kernel : {&first_, &second_}) {
      for (const Stage& stage : kernel->stages) {
        const std::vector<Dim> other = axis_extents(*kernel, stage);
        const auto differ = std::ranges::mismatch(axes, other).in1;
        count = std::min(count, static_cast<std::size_t>(differ - axes.begin()));
      }
    }
    return count;
  }

  /// Is there something to run in vectors, and nothing that is known to run in short ones?
  bool rows_are_long(std::size_t count) const {
    bool any = false;
    for (const Kernel* kernel : {&first_, &second_}) {
      for (const Stage& stage : kernel->stages) {
        const std::vector<Dim> axes = axis_extents(*kernel, stage);
        if (axes.size() == count) continue;
        const Dim& along_vectors = axes[is_columns(first_) ? 0 : axes.size() - 1];
        if (along_vectors.is_constant() && along_vectors.constant() < caps_.short_row) return false;
        any = true;
      }
    }
    return any;
  }

  /// Is every element that one stage writes and another touches told apart by each shared axis? Also within a kernel:
  /// so far its stages followed each other as wholes.
  bool keep_to_their_rows(std::size_t count) const {
    std::vector<const Stage*> stages;
    for (const Kernel* kernel : {&first_, &second_}) {
      for (const Stage& stage : kernel->stages) stages.push_back(&stage);
    }
    for (std::size_t later = 1; later < stages.size(); ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        if (!keep_to_their_rows(*stages[earlier], *stages[later], count)) return false;
      }
    }
    return true;
  }

  bool keep_to_their_rows(const Stage& earlier, const Stage& later, std::size_t count) const {
    for (const Statement& a : earlier.statements) {
      if (!a.has_place()) continue;
      for (const Statement& b : later.statements) {
        if (!b.has_place() || (!a.is_write() && !b.is_write()) || !same_root(a.buffer, b.buffer)) continue;
        if (!in_own_row(a, b, count)) return false;
      }
    }
    return true;
  }

  static bool in_own_row(const Statement& a, const Statement& b, std::size_t count) {
    if (a.buffer != b.buffer) return false;
    for (std::size_t axis = 0; axis < count; ++axis) {
      bool told = false;
      for (std::size_t d = 0; d < a.map.subscripts.size(); ++d) {
        const Subscript& s = a.map.subscripts[d];
        told |= s.is_told_by(static_cast<int>(axis)) && s == b.map.subscripts[d];
      }
      if (!told) return false;
    }
    return true;
  }

  /// A running sum begins anew in every row.
  bool sums_run_in_rows(std::size_t count) const {
    const auto runs_on = [&](const Statement& s) {
      if (s.kind != Statement::Kind::fold || !s.result.valid()) return false;
      return !in_own_row(s, s, count);
    };
    return !any_statement(first_, runs_on) && !any_statement(second_, runs_on);
  }

  const KernelProgram& program_;
  const kernel::BackendCaps& caps_;
  const Kernel& first_;
  const Kernel& second_;
};

/// With the last axis of all stages as its outer one, in tiles. None where they have no such axis.
std::optional<Kernel> by_columns(const Kernel& kernel, const kernel::BackendCaps& caps) {
  if (is_columns(kernel)) return kernel;
  const bool all_have_axes = std::ranges::none_of(kernel.stages, [](const Stage& stage) { return stage.axes.empty(); });
  if (!kernel.outer.empty() || !all_have_axes || std::ranges::any_of(kernel.stages, order_shows)) return std::nullopt;
  const kernel::Axis last = kernel.stages.front().axes.back();
  const auto has_it = [&](const Stage& stage) { return stage.axes.back().extent == last.extent; };
  if (!std::ranges::all_of(kernel.stages, has_it)) return std::nullopt;
  Kernel out = kernel;
  out.outer = {last};
  out.tile = caps.tile_of_columns;
  for (Stage& stage : out.stages) {
    stage.axes.pop_back();
    stage.tile_at = stage.axes.size();
    std::vector<int> now(stage.tile_at, 0);
    std::iota(now.begin(), now.end(), 1);
    now.push_back(0);
    renumber_axes(stage, now);
  }
  return out;
}

/// The axes of a statement are numbered from the outer ones on: so nothing in it changes.
void make_outer(Kernel& kernel, std::size_t count) {
  INLAY_CHECK(kernel.outer.empty() || kernel.outer.size() == count, "kernels share other axes than one has");
  if (!kernel.outer.empty()) return;
  const std::vector<kernel::Axis>& axes = kernel.stages.front().axes;
  kernel.outer.assign(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(count));
  for (Stage& stage : kernel.stages) {
    stage.axes.erase(stage.axes.begin(), stage.axes.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

/// What each outer point of a kernel can have for itself.
class Locals {
 public:
  explicit Locals(KernelProgram& program) : program_(program), num_users_(program.buffers.size(), 0) {
    for (const kernel::Step& step : program_.steps) {
      const kernel::StepAccess access = access_of(program_, step);
      std::vector<BufferId> touched = access.reads;
      touched.insert(touched.end(), access.writes.begin(), access.writes.end());
      std::ranges::sort(touched);
      const auto again = std::ranges::unique(touched);
      touched.erase(again.begin(), again.end());
      for (BufferId b : touched) ++num_users_[b];
    }
    for (const kernel::Buffer& buffer : program_.buffers) {
      if (buffer.view_of.valid()) num_users_[root_of(program_, buffer.view_of)] = 2;
    }
  }

  /// Rows by tiles, where something dear is made once for each row.
  static void choose_tile(Kernel& kernel, const kernel::BackendCaps& caps) {
    const auto is_dear_alone = [](const Stage& stage) {
      return stage.axes.empty() && std::ranges::any_of(stage.statements, is_dear);
    };
    if (kernel.outer.empty() || kernel.is_tiled()) return;
    if (std::ranges::any_of(kernel.stages, is_dear_alone)) kernel.tile = caps.tile_of_rows;
  }

  void find(Kernel& kernel) {
    std::vector<std::pair<KernelOutput*, std::vector<std::size_t>>> found;
    for (KernelOutput& output : kernel.outputs) {
      const kernel::Buffer& buffer = program_.buffers[output.buffer];
      const bool is_private = buffer.role == kernel::Role::temporary && num_users_[output.buffer] == 1;
      if (!is_private || output.start.kind == Start::Kind::copy) continue;
      std::vector<std::size_t> dims = outer_dims(kernel, output.buffer);
      if (dims.size() == kernel.outer.size()) found.emplace_back(&output, std::move(dims));
    }
    const auto is_found = [&](BufferId b) {
      return std::ranges::any_of(found, [&](const auto& each) { return each.first->buffer == b; });
    };
    for (const auto& states : states_of_one_fold(kernel)) {
      if (is_found(states.first) == is_found(states.second)) continue;
      std::erase_if(found, [&](const auto& each) {
        return each.first->buffer == states.first || each.first->buffer == states.second;
      });
    }
    for (const auto& [output, dims] : found) make_local(kernel, *output, dims);
  }

 private:
  /// They are at one place, so both are local or none.
  static std::vector<std::pair<BufferId, BufferId>> states_of_one_fold(const Kernel& kernel) {
    std::vector<std::pair<BufferId, BufferId>> out;
    for (const Stage& stage : kernel.stages) {
      for (std::size_t i = 0; i < stage.statements.size(); ++i) {
        if (stage.statements[i].pair != kernel::Pair::none)
          out.emplace_back(stage.statements[i].buffer, stage.statements[i + 1].buffer);
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

bool join_rows(const KernelProgram& program, const kernel::BackendCaps& caps, Kernel& first, Kernel& second) {
  const std::size_t count = is_columns(first) ? 0 : Neighbours(program, caps, first, second).shared_axes();
  if (count == 0) return false;
  make_outer(first, count);
  make_outer(second, count);
  append(first, std::move(second));
  return true;
}

/// Does a stage do more than what is done once for each column?
bool passes_rows(const Kernel& kernel) {
  return std::ranges::any_of(kernel.stages,
                             [&](const Stage& stage) { return kernel.outer.size() + stage.axes.size() > 1; });
}

bool join_columns(const KernelProgram& program, const kernel::BackendCaps& caps, Kernel& first, Kernel& second) {
  // A loop that passes all rows takes them in order where it is the first to pass them.
  if (!passes_rows(first)) return false;
  std::optional<Kernel> left = by_columns(first, caps), right = by_columns(second, caps);
  if (!left || !right || Neighbours(program, caps, *left, *right).shared_axes() == 0) return false;
  first = std::move(*left);
  append(first, std::move(*right));
  return true;
}

/// The rows are whole arrays: the second goes over the same points as the first once that has been folded. It is one
/// Kernel where both need the same data; loops over other data are not made stages because a number is handed on.
class WholeArrays {
 public:
  WholeArrays(const KernelProgram& program, const Kernel& first, const Kernel& second)
      : program_(program), first_(first), second_(second) {}

  bool fit() const { return first_.outer.empty() && second_.outer.empty() && same_points() && share_data(); }

  bool may_follow(Between between) const {
    std::vector<const Kernel*> later(between.begin(), between.end()), before = {&first_};
    later.push_back(&second_);
    if (std::ranges::none_of(later, [&](const Kernel* k) { return reads_fold_of_first(*k); })) return false;
    return std::ranges::all_of(later, [&](const Kernel* k) {
      const bool can_be = starts_can_be_earlier(program_, *k, before);
      before.push_back(k);
      return can_be;
    });
  }

 private:
  BufferId root(BufferId b) const { return root_of(program_, b); }

  bool same_points() const {
    const std::vector<Dim> all = axis_extents(second_, second_.stages.front());
    const auto same_in = [&](const Kernel& kernel) {
      return std::ranges::all_of(
          kernel.stages, [&](const Stage& stage) { return stage.axes.empty() || axis_extents(kernel, stage) == all; });
    };
    return !all.empty() && same_in(first_) && same_in(second_);
  }

  bool has_bytes(BufferId b) const {
    const kernel::Role role = program_.buffers[root(b)].role;
    return role != kernel::Role::scalar && role != kernel::Role::literal;
  }

  bool share_data() const {
    return any_statement(second_, [&](const Statement& s) {
      if (s.kind != Statement::Kind::load || !has_bytes(s.buffer)) return false;
      return any_statement(first_,
                           [&](const Statement& f) { return f.has_place() && root(f.buffer) == root(s.buffer); });
    });
  }

  bool reads_fold_of_first(const Kernel& kernel) const {
    return any_statement(kernel, [&](const Statement& s) {
      if (s.kind != Statement::Kind::load) return false;
      return any_statement(first_, [&](const Statement& f) {
        return f.kind == Statement::Kind::fold && root(f.buffer) == root(s.buffer);
      });
    });
  }

  const KernelProgram& program_;
  const Kernel& first_;
  const Kernel& second_;
};

/// What stands between is done once, by a stage without axes.
JoinRule whole_arrays(const KernelProgram& program) {
  return {[&](const Kernel& first, const Kernel& second) { return WholeArrays(program, first, second).fit(); },
          [&](Kernel& first, Between between, Kernel& second) {
            if (!WholeArrays(program, first, second).may_follow(between)) return false;
            for (Kernel* scalars : between) append(first, std::move(*scalars));
            append(first, std::move(second));
            return true;
          }};
}

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

JoinRule rows_and_columns(const KernelProgram& program, const kernel::BackendCaps& caps) {
  return {
      [&](const Kernel& first, const Kernel& second) { return Neighbours(program, caps, first, second).may_follow(); },
      [&](Kernel& first, Between, Kernel& second) {
        return join_rows(program, caps, first, second) || join_columns(program, caps, first, second);
      }};
}

}  // namespace

void share_rows(KernelProgram& program, const kernel::BackendCaps& caps) {
  join_kernels(program, Through::nothing, rows_and_columns(program, caps));
  join_kernels(program, Through::scalars, whole_arrays(program));
  Locals locals(program);
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel || (kernel->outer.empty() && !goes_on_with_fold(*kernel))) continue;
    Locals::choose_tile(*kernel, caps);
    locals.find(*kernel);
  }
}

}  // namespace inlay::fuse
