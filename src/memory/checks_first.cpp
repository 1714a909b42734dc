#include "memory/checks_first.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "kernel/counts.h"
#include "kernel/dim_proof.h"
#include "kernel/live.h"
#include "kernel/steps.h"
#include "kernel/visit.h"
#include "memory/commit.h"
#include "memory/sharing.h"

namespace inlay::memory {

using kernel::Bounds;
using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::RegisterId;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Step;
using kernel::StepId;
using kernel::Subscript;

namespace {

bool is_checked(const Subscript& subscript) { return subscript.index && subscript.index->bounds == Bounds::checked; }

/// What is known of the array whose element the register holds.
Facts facts_of_load(const KernelProgram& program, const Stage& stage, RegisterId index) {
  const auto made = std::ranges::find(stage.statements, index, &Statement::result);
  if (made == stage.statements.end() || made->kind != Statement::Kind::load) return {};
  return program.buffers[root_of(program, made->buffer)].facts;
}

/// The least extent within which such indices lie; none: they may be any.
std::optional<int64_t> safe_extent(const Facts& facts) {
  if (!facts.has_range || facts.max == INT64_MAX || facts.min <= -INT64_MAX) return std::nullopt;
  return std::max({facts.max + 1, -facts.min, int64_t{0}});
}

/// The part of a stage that decides whether it fails, over the axes that matter for that.
class CheckStage {
 public:
  /// `changed`: roots that, before the first write, do not hold what the stage would read.
  CheckStage(const KernelProgram& program, const Kernel& kernel, const Stage& stage,
             const std::unordered_set<BufferId>& changed)
      : program_(program), stage_(stage), changed_(changed), needed_(static_cast<std::size_t>(stage.num_registers)) {
    axes_ = kernel.outer;  // statements number their axes after them
    for (kernel::Axis& axis : axes_) axis.extent = stage.once ? Dim(1) : axis.extent;
    axes_.insert(axes_.end(), stage.axes.begin(), stage.axes.end());
  }

  /// Makes the stage; nothing if what a check reads is not known there yet, or is checked only where a predicate holds.
  std::optional<Stage> make() {
    if (!find_needed()) return std::nullopt;
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) {
      const Statement& s = stage_.statements[i];
      if (is_made(s) || (s.kind == Statement::Kind::check && !s.index_to_check())) {
        out_.statements.push_back(s);
        continue;
      }
      for (const Subscript& subscript : s.map.subscripts) {
        if (is_checked(subscript)) out_.statements.push_back(check_of(*subscript.index));
      }
    }
    place_axes();
    number_registers();
    return std::move(out_);
  }

 private:
  bool is_made(const Statement& s) const { return s.result.valid() && needed_[s.result.index]; }

  /// Goes backwards from what can fail.
  bool find_needed() {
    for (std::size_t i = stage_.statements.size(); i-- > 0;) {
      const Statement& s = stage_.statements[i];
      if (s.can_fail() && s.predicate.valid()) return false;
      if (is_made(s)) {
        const bool is_late = s.kind == Statement::Kind::load && changed_.contains(root_of(program_, s.buffer));
        if (s.is_write() || is_late) return false;
      }
      if (is_made(s) || s.kind == Statement::Kind::check) {
        for (RegisterId r : s.operands) needed_[r.index] = true;
      }
      for (const Subscript& subscript : s.map.subscripts) {
        const bool is_asked = subscript.index && (is_made(s) || is_checked(subscript));
        if (is_asked) needed_[subscript.index->index.index] = true;
      }
    }
    return true;
  }

  /// 0 where the facts of the arrays that it reads say that all indices lie within their extents, else 1.
  Dim may_fail() const {
    Dim missing = 0;  // by how much an extent is shorter than an array's facts say is safe
    for (const Statement& s : out_.statements) {
      if (s.kind == Statement::Kind::check && !s.index_to_check()) return 1;
      for (const Subscript& subscript : s.map.subscripts) {
        if (!is_checked(subscript)) continue;
        const std::optional<int64_t> safe = safe_extent(facts_of_load(program_, stage_, subscript.index->index));
        if (!safe) return 1;
        missing = max(missing, *safe - subscript.index->extent);
      }
    }
    return min(missing, 1);
  }

  /// For an axis that no check reads it only matters whether it has a point. Outermost, where some sizes need no check,
  /// stands one that has none then.
  void place_axes() {
    if (const Dim some = may_fail(); !some.is(1)) out_.axes.push_back({"unsafe", some});
    std::vector<bool> asked(axes_.size(), false);
    for (const Statement& s : out_.statements) {
      if (s.kind == Statement::Kind::axis) asked[static_cast<std::size_t>(s.axis)] = true;
      for (const Subscript& subscript : s.map.subscripts) {
        for (const kernel::AxisTerm& term : subscript.axes) asked[static_cast<std::size_t>(term.axis)] = true;
      }
    }
    std::vector<int> place(axes_.size(), -1);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (asked[axis] || kernel::always_at_least(axes_[axis].extent, 1)) continue;
      out_.axes.push_back({axes_[axis].name, min(axes_[axis].extent, 1)});
    }
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (!asked[axis]) continue;
      place[axis] = static_cast<int>(out_.axes.size());
      out_.axes.push_back(axes_[axis]);
    }
    for (Statement& s : out_.statements) {
      if (s.kind == Statement::Kind::axis) s.axis = place[static_cast<std::size_t>(s.axis)];
      for (Subscript& subscript : s.map.subscripts) {
        for (kernel::AxisTerm& term : subscript.axes) term.axis = place[static_cast<std::size_t>(term.axis)];
      }
    }
  }

  void number_registers() {
    std::vector<RegisterId> number(needed_.size());
    const auto renumber = [&](RegisterId& r) { r = number[r.index]; };
    for (Statement& s : out_.statements) {
      for_each_register(s, renumber);
      for_each_index(s, [](kernel::IndexTerm& index) {
        if (index.bounds == Bounds::checked_before) index.bounds = Bounds::checked;
      });
      if (!s.result.valid()) continue;
      number[s.result.index] = RegisterId(static_cast<std::size_t>(out_.num_registers++));
      renumber(s.result);
    }
  }

  const KernelProgram& program_;
  const Stage& stage_;
  const std::unordered_set<BufferId>& changed_;
  std::vector<kernel::Axis> axes_;  // of the stage: the kernel's outer ones first
  std::vector<bool> needed_;        // by register
  Stage out_;
};

/// Marks the stage's checks as done before.
void take_for_checked(Stage& stage) {
  std::erase_if(stage.statements, [](const Statement& s) { return s.kind == Statement::Kind::check; });
  for (Statement& s : stage.statements) {
    for (Subscript& subscript : s.map.subscripts) {
      if (is_checked(subscript)) subscript.index->bounds = Bounds::checked_before;
    }
  }
  kernel::drop_unused(stage);
}

class Mover {
 public:
  explicit Mover(const KernelProgram& program) : out_(program), regions_(kernel::regions_of(program)) {}

  /// Moves everything that can fail after the first write of `first`, a kernel, to `buffer` in front of it.
  std::optional<KernelProgram> move(StepId first, BufferId buffer) {
    auto* writer = std::get_if<Kernel>(&out_.steps[first.index]);
    if (!writer || !writer->outer.empty() || is_in_region(first)) return std::nullopt;
    const auto writes = [&](const Stage& stage) {
      return std::ranges::any_of(stage.statements,
                                 [&](const Statement& s) { return s.is_write() && root(s.buffer) == root(buffer); });
    };
    const auto at = std::ranges::find_if(writer->stages, writes) - writer->stages.begin();
    for (StepId step(first.index); step.index < out_.steps.size(); step = StepId(step.index + 1)) {
      auto* kernel = std::get_if<Kernel>(&out_.steps[step.index]);
      if (kernel && step != first) begin(*kernel);
      if (!kernel ? !pass(out_.steps[step.index]) : !pass(*kernel, step, step == first ? at : 0)) return std::nullopt;
    }
    if (checks_.empty()) return std::nullopt;
    writer->stages.insert(writer->stages.begin() + at, checks_.begin(), checks_.end());
    return std::move(out_);
  }

 private:
  BufferId root(BufferId b) const { return kernel::root_of(out_, b); }
  bool is_in_region(StepId step) const {
    return std::ranges::any_of(regions_, [&](const auto& region) { return region.holds(step); });
  }

  bool pass(const Step& step) {
    for (BufferId b : access_of(out_, step).writes) changed_.insert(b);
    return !can_fail(step);
  }

  void begin(const Kernel& kernel) {
    for (const kernel::KernelOutput& output : kernel.outputs) {
      if (output.start.kind != Start::Kind::keep) changed_.insert(root(output.buffer));
    }
  }

  bool pass(Kernel& kernel, StepId step, std::ptrdiff_t first_stage) {
    for (std::size_t at = static_cast<std::size_t>(first_stage); at < kernel.stages.size(); ++at) {
      Stage& stage = kernel.stages[at];
      if (can_fail(stage)) {
        if (is_in_region(step)) return false;
        std::optional<Stage> check = CheckStage(out_, kernel, stage, changed_).make();
        if (!check) return false;
        checks_.push_back(std::move(*check));
        take_for_checked(stage);
      }
      for (const Statement& s : stage.statements) {
        if (s.is_write()) changed_.insert(root(s.buffer));
      }
    }
    return true;
  }

  KernelProgram out_;
  const std::vector<kernel::RegionSpan> regions_;
  std::unordered_set<BufferId> changed_;  // roots written between the first write and here
  std::vector<Stage> checks_;
};

/// Are these bytes copied only because something may fail later?
bool waits_for_checks(const KernelProgram& program, const PlannedCopy& copy) {
  const BufferId source = root_of(program, copy.source);
  if (!program.buffers[source].donated || !std::holds_alternative<Kernel>(program.steps[copy.step.index])) return false;
  const Liveness lives = liveness(program);
  return !Commit(program, lives).why_not(root_of(program, copy.destination), source).empty();
}

bool is_required(const KernelProgram& program, const PlannedCopy& copy) {
  const std::vector<kernel::KernelOutput>& outputs = std::get<Kernel>(program.steps[copy.step.index]).outputs;
  return std::ranges::find(outputs, copy.destination, &kernel::KernelOutput::buffer)->start.required.valid();
}

/// Makes a size that indices refer to as large as what is known of the index, since a call in which it is smaller
/// fails.
void raise_to_indices(const KernelProgram& program, const Stage& stage, std::vector<int64_t>& symbols) {
  for (const Statement& s : stage.statements) {
    for (const Subscript& subscript : s.map.subscripts) {
      if (!is_checked(subscript) || !subscript.index->extent.is_symbol()) continue;
      const std::optional<int64_t> safe = safe_extent(facts_of_load(program, stage, subscript.index->index));
      int64_t& size = symbols[subscript.index->extent.as_symbol().index];
      if (safe) size = std::max(size, *safe);
    }
  }
}

std::vector<int64_t> likely_sizes(const KernelProgram& program) {
  std::vector<int64_t> symbols(program.symbols.size(), kNominalSize);
  for (const Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) continue;
    for (const Stage& stage : kernel->stages) raise_to_indices(program, stage, symbols);
  }
  return symbols;
}

/// Do the checks read no more than the copy would read and write? (A short table that is accumulated into through a
/// long index is copied.) Unknown sizes count as equal.
bool pays(const KernelProgram& program, const KernelProgram& moved, const PlannedCopy& copy) {
  constexpr int64_t kIndexBytes = 8;
  const std::vector<int64_t> symbols = likely_sizes(program);
  const Dim again = kernel::count(moved).reads - kernel::count(program).reads;
  return again.estimate(symbols) * kIndexBytes <= 2 * size_bytes(program.buffers[copy.destination]).estimate(symbols);
}

}  // namespace

SharedProgram check_first(SharedProgram shared) {
  for (std::size_t i = 0; i < shared.sharing.copies.size();) {
    const KernelProgram& program = shared.program;
    const PlannedCopy& copy = shared.sharing.copies[i++];
    if (!waits_for_checks(program, copy)) continue;
    std::optional<KernelProgram> moved = Mover(program).move(copy.step, copy.destination);
    if (!moved || !(is_required(program, copy) || pays(program, *moved, copy))) continue;
    SharedProgram now = share(std::move(*moved), shared.may_share);
    if (now.sharing.copies.size() >= shared.sharing.copies.size()) continue;
    shared = std::move(now);
    i = 0;
  }
  return shared;
}

}  // namespace inlay::memory
