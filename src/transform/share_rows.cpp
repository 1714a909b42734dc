#include "transform/share_rows.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "transform/join.h"
#include "transform/order_axes.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using kernel::Subscript;

namespace {

/// Its outer axis is the last of its arrays, and goes by tiles.
bool is_columns(const Kernel& kernel) { return kernel.is_tiled(); }

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
    if (any_statement(first_, &Statement::has_hidden_states) || any_statement(second_, &Statement::has_hidden_states))
      return 0;
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

JoinRule rows_and_columns(const KernelProgram& program, const kernel::BackendCaps& caps) {
  return {
      [&](const Kernel& first, const Kernel& second) { return Neighbours(program, caps, first, second).may_follow(); },
      [&](Kernel& first, Between, Kernel& second) {
        return join_rows(program, caps, first, second) || join_columns(program, caps, first, second);
      }};
}

}  // namespace

KernelProgram share_rows(KernelProgram program, LoopPassContext& context) {
  join_kernels(program, Through::nothing, rows_and_columns(program, context.caps), context);
  return program;
}

}  // namespace inlay::transform
