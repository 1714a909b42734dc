#include "fuse/rows.h"

#include <algorithm>

#include "fuse/join.h"
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

// A stage's vectors run along what is left of its axes. Rows that are known to be shorter leave them half empty, and
// loops over whole arrays do not.
constexpr int64_t kShortRow = 16;

/// More than a division or a root, one number at a time.
bool is_dear(const Statement& s) {
  constexpr int kRoot = 5;
  return s.kind == Statement::Kind::op && facts(s.op).cost > kRoot;
}

/// One pair of kernels.
class Neighbours {
 public:
  Neighbours(const KernelProgram& program, const Kernel& first, const Kernel& second)
      : program_(program), first_(first), second_(second) {}

  /// The most leading axes that both can share; 0: none.
  std::size_t shared_axes() const {
    if (!second_reads_first() || !starts_can_be_earlier()) return 0;
    // Which of several mistakes is found must not depend on how loops are arranged.
    if (any_statement(first_, can_fail) && any_statement(second_, can_fail)) return 0;
    std::size_t least = 1, most = common_axes();
    for (const Kernel* kernel : {&first_, &second_}) {
      if (kernel->outer.empty()) continue;  // else it keeps those that it has: each may come from a body
      least = std::max(least, kernel->outer.size());
      most = std::min(most, kernel->outer.size());
    }
    for (std::size_t count = most; count >= least; --count) {
      if (rows_are_long(count) && keep_to_their_rows(count) && sums_run_in_rows(count)) return count;
    }
    return 0;
  }

 private:
  bool same_root(BufferId a, BufferId b) const { return root_of(program_, a) == root_of(program_, b); }

  bool writes(const Kernel& kernel, BufferId buffer) const {
    return std::ranges::any_of(kernel.outputs, [&](const KernelOutput& o) { return same_root(o.buffer, buffer); });
  }

  bool second_reads_first() const {
    return any_statement(
        second_, [&](const Statement& s) { return s.kind == Statement::Kind::load && writes(first_, s.buffer); });
  }

  /// What the second kernel's outputs hold in the beginning, they then hold before the first kernel.
  bool starts_can_be_earlier() const {
    return std::ranges::all_of(second_.outputs, [&](const KernelOutput& output) {
      if (output.start.kind == Start::Kind::keep) return true;
      if (output.start.kind == Start::Kind::copy && writes(first_, output.start.source)) return false;
      const auto is_it = [&](const Statement& s) { return s.has_place() && same_root(s.buffer, output.buffer); };
      return !writes(first_, output.buffer) && !any_statement(first_, is_it);
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

  /// Is there something to run in vectors, nothing that is known to run in short ones, and nothing dear that would no
  /// longer run in any? (The log of a logsumexp is a loop over all rows.)
  bool rows_are_long(std::size_t count) const {
    bool any = false;
    for (const Kernel* kernel : {&first_, &second_}) {
      for (const Stage& stage : kernel->stages) {
        const std::vector<Dim> axes = axis_extents(*kernel, stage);
        if (axes.size() == count && std::ranges::any_of(stage.statements, is_dear)) return false;
        if (axes.size() == count) continue;
        if (axes.back().is_constant() && axes.back().constant() < kShortRow) return false;
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
        const bool is_the_axis = !s.index && s.axes.size() == 1 && s.axes[0].axis == static_cast<int>(axis);
        told |= is_the_axis && s == b.map.subscripts[d];
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
  const Kernel& first_;
  const Kernel& second_;
};

/// The axes of a statement are numbered from the outer ones on: so nothing in it changes.
void make_outer(Kernel& kernel, std::size_t count) {
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

  void find(Kernel& kernel) {
    for (KernelOutput& output : kernel.outputs) {
      const kernel::Buffer& buffer = program_.buffers[output.buffer];
      const bool is_private = buffer.role == kernel::Role::temporary && num_users_[output.buffer] == 1;
      if (!is_private || output.start.kind == Start::Kind::copy) continue;
      const std::vector<std::size_t> dims = outer_dims(kernel, output.buffer);
      if (dims.size() == kernel.outer.size()) make_local(kernel, output, dims);
    }
  }

 private:
  /// By outer axis: the dim of the buffer that counts its points, everywhere.
  static std::vector<std::size_t> outer_dims(const Kernel& kernel, BufferId buffer) {
    std::vector<std::size_t> out;
    for (std::size_t axis = 0; axis < kernel.outer.size(); ++axis) {
      std::vector<bool> counts;
      for (const Stage& stage : kernel.stages) {
        for (const Statement& s : stage.statements) {
          if (!s.has_place() || s.buffer != buffer) continue;
          counts.resize(s.map.subscripts.size(), true);
          for (std::size_t d = 0; d < counts.size(); ++d) {
            counts[d] = counts[d] && s.map.subscripts[d] == axis_alone(static_cast<int>(axis));
          }
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
    for (std::size_t d : dims) program_.buffers[output.buffer].dims[d] = 1;
    for (Stage& stage : kernel.stages) {
      for (Statement& s : stage.statements) {
        if (!s.has_place() || s.buffer != output.buffer) continue;
        for (std::size_t d : dims) s.map.subscripts[d] = Subscript{};
      }
    }
  }

  KernelProgram& program_;
  IdMap<BufferId, int> num_users_;  // steps that touch it; more where it has views
};

}  // namespace

void share_rows(KernelProgram& program) {
  bool any_shared = false;
  join_kernels(program, [&](Kernel& first, Kernel& second) {
    const std::size_t count = Neighbours(program, first, second).shared_axes();
    if (count == 0) return false;
    make_outer(first, count);
    make_outer(second, count);
    append(first, std::move(second));
    return any_shared = true;
  });
  if (!any_shared) return;
  Locals locals(program);
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (kernel && !kernel->outer.empty()) locals.find(*kernel);
  }
}

}  // namespace inlay::fuse
