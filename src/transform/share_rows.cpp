#include "transform/share_rows.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "transform/join.h"
#include "transform/join_regions.h"
#include "transform/join_whole_arrays.h"
#include "transform/order_axes.h"
#include "transform/stretched_rows.h"
#include "transform/traffic.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::SizeCheck;
using kernel::Stage;
using kernel::Statement;

namespace {

/// Its outer axis is the last of its arrays, and goes by tiles: the points of a tile are passed within each row.
bool is_columns(const Kernel& kernel) {
  return kernel.is_tiled() && std::ranges::any_of(kernel.stages, [](const Stage& stage) { return stage.tile_at > 0; });
}

/// One pair of kernels.
class Neighbours {
 public:
  Neighbours(const KernelProgram& program, const kernel::BackendCaps& caps, const Kernel& first, const Kernel& second,
             WhyNot* why)
      : program_(program), caps_(caps), first_(first), second_(second), why_(why) {}

  /// Does the second go on with what the first makes, and may its stages follow at once?
  bool may_follow() const {
    return all_hold(
        why_, [&] { return second_reads_first(); },
        [&] { return starts_can_be_earlier(program_, second_, std::array{&first_}, why_); },
        [&] { return one_can_fail(); }, [&] { return are_few_loops(); });
  }

  /// The most leading axes that both can share; 0: none. What has outer axes keeps them.
  std::size_t shared_axes() const {
    // Hidden states last as long as a stage runs, and it would begin anew in every row.
    const bool has_hidden =
        any_statement(first_, &Statement::has_hidden_states) || any_statement(second_, &Statement::has_hidden_states);
    if (has_hidden && !why_) return 0;
    std::size_t fewest = 1, most = common_axes();
    for (const Kernel* kernel : {&first_, &second_}) {
      if (kernel->outer.empty()) continue;
      fewest = std::max(fewest, kernel->outer.size());
      most = std::min(most, kernel->outer.size());
    }
    for (std::size_t count = has_hidden ? 0 : most; count >= fewest; --count) {
      if (rows_are_long(count, nullptr) && keep_to_their_rows(count, nullptr) && sums_run_in_rows(count)) return count;
    }
    if (why_ && second_reads_array_of_first()) say_why_not(fewest, most);
    return 0;
  }

 private:
  bool same_root(BufferId a, BufferId b) const { return root_of(program_, a) == root_of(program_, b); }

  bool second_reads_first() const {
    return any_statement(second_, [&](const Statement& s) {
      return s.kind == Statement::Kind::load && writes(program_, first_, s.buffer);
    });
  }

  bool are_few_loops() const { return has_few_loops(first_, second_, second_reads_array_of_first() ? why_ : nullptr); }

  /// Which of several mistakes is found must not depend on how loops are arranged.
  bool one_can_fail() const {
    const bool both = any_statement(first_, &Statement::can_fail) && any_statement(second_, &Statement::can_fail);
    if (both && why_ && second_reads_array_of_first()) why_->say({ApartFor::both_can_fail});
    return !both;
  }

  /// Fewer shared axes ask for less: the fewest are what matters.
  void say_why_not(std::size_t fewest, std::size_t most) const {
    for (const Kernel* kernel : {&first_, &second_}) {
      any_statement(*kernel, [&](const Statement& s) {
        if (s.has_hidden_states()) why_->say({ApartFor::one_pass, s.buffer});
        return s.has_hidden_states();
      });
    }
    if (most < fewest) {
      why_->say({ApartFor::other_axes});
      fewest = std::max<std::size_t>(most, 1);
    } else {
      rows_are_long(fewest, why_);
    }
    keep_to_their_rows(fewest, why_);
  }

  /// What goes on with no more than numbers of the first is for join_whole_arrays.
  bool second_reads_array_of_first() const {
    return any_statement(second_, [&](const Statement& s) {
      const bool loads = s.kind == Statement::Kind::load && writes(program_, first_, s.buffer);
      return loads && !num_elements(program_.buffers[s.buffer]).is(1);
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
  bool rows_are_long(std::size_t count, WhyNot* why) const {
    bool any = false;
    for (const Kernel* kernel : {&first_, &second_}) {
      for (const Stage& stage : kernel->stages) {
        const std::vector<Dim> axes = axis_extents(*kernel, stage);
        if (axes.size() == count) continue;
        const Dim& along_vectors = axes[is_columns(first_) ? 0 : axes.size() - 1];
        if (along_vectors.is_constant() && along_vectors.constant() < caps_.short_row) {
          if (why) why->say({ApartFor::short_rows, {}, {}, along_vectors.constant()});
          return false;
        }
        any = true;
      }
    }
    return any;
  }

  /// Is every element that one stage writes and another touches told apart by each shared axis? Also within a kernel:
  /// so far its stages followed each other as wholes.
  bool keep_to_their_rows(std::size_t count, WhyNot* why) const {
    std::vector<const Stage*> stages;
    for (const Kernel* kernel : {&first_, &second_}) {
      for (const Stage& stage : kernel->stages) stages.push_back(&stage);
    }
    bool all_do = true;
    WhyNot in_one;
    for (std::size_t later = 1; later < stages.size(); ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const bool of_both = earlier < first_.stages.size() && later >= first_.stages.size();
        WhyNot* why_these = !why ? nullptr : of_both ? why : &in_one;
        if (keep_to_their_rows(*stages[earlier], *stages[later], count, why_these)) continue;
        if (!why) return false;
        all_do = false;
      }
    }
    // What keeps the stages of one from sharing rows is said where nothing else is.
    if (why && !why->refusal() && in_one.refusal()) why->say(*in_one.refusal());
    return all_do;
  }

  bool keep_to_their_rows(const Stage& earlier, const Stage& later, std::size_t count, WhyNot* why) const {
    bool all_do = true;
    for (const Statement& a : earlier.statements) {
      if (!a.has_place()) continue;
      for (const Statement& b : later.statements) {
        if (!b.has_place() || (!a.is_write() && !b.is_write()) || !same_root(a.buffer, b.buffer)) continue;
        if (in_own_row(a, b, count)) continue;
        if (!why) return false;
        say_why_not(a, b, *why);
        all_do = false;
      }
    }
    return all_do;
  }

  /// Of two that do not keep to their rows.
  void say_why_not(const Statement& a, const Statement& b, WhyNot& why) const {
    if (!a.is_write()) return;
    const bool by_parts =
        a.map.has_index() || a.predicate.valid() || (a.kind == Statement::Kind::store && a.accumulates());
    why.say({by_parts                          ? ApartFor::whole_parts
             : b.map.has_index()               ? ApartFor::through_index
             : a.kind == Statement::Kind::fold ? ApartFor::whole_fold
                                               : ApartFor::other_places,
             a.buffer});
  }

  /// (A kernel that is finished has locals, which every point of the shared axes has for itself, whatever their maps
  /// say.)
  bool in_own_row(const Statement& a, const Statement& b, std::size_t count) const {
    if (a.buffer != b.buffer) return false;
    if (first_.is_local(a.buffer) || second_.is_local(a.buffer)) return true;
    for (std::size_t axis = 0; axis < count; ++axis) {
      if (!told_apart_by(a.map, b.map, static_cast<int>(axis))) return false;
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
  WhyNot* const why_;  // none: nobody asks
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

/// May another axis of the kernel's one stage come in front? The last stays.
bool may_be_turned(const Kernel& kernel) {
  return kernel.outer.empty() && kernel.stages.size() == 1 && kernel.stages[0].axes.size() > 2 &&
         may_permute_axes(kernel.stages[0]);
}

/// The kernel, and where that may be, the kernel with each other axis in front of the others.
std::vector<Kernel> with_each_axis_in_front(const Kernel& kernel) {
  std::vector<Kernel> out{kernel};
  if (!may_be_turned(kernel)) return out;
  const std::size_t num_axes = kernel.stages[0].axes.size();
  for (std::size_t axis = 1; axis + 1 < num_axes; ++axis) {
    std::vector<std::size_t> order(num_axes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto front = order.begin() + static_cast<std::ptrdiff_t>(axis);
    std::rotate(order.begin(), front, front + 1);
    permute_axes(out.emplace_back(kernel).stages[0], order);
  }
  return out;
}

/// Where the second only folds, it hands on nothing of its points, and tiles of columns are as good. And where it goes
/// across the first, there is to be something of the size of a row that it then reads in the cache.
bool gains_by_rows(const Kernel& first, const Kernel& second) {
  const auto stores = [](const Statement& s) { return s.kind == Statement::Kind::store; };
  const auto last_axis = [](const Kernel& kernel) {
    const std::vector<Dim> axes = axis_extents(kernel, kernel.stages.back());
    return axes.empty() ? Dim(1) : axes.back();
  };
  return any_statement(second, stores) && (last_axis(first) == last_axis(second) || any_statement(first, stores));
}

/// The two kernels, which share no rows as they are, in orders of their axes in which they do, and how many axes those
/// are; 0: there are none.
std::size_t find_rows(const KernelProgram& program, const kernel::BackendCaps& caps, Kernel& first, Kernel& second) {
  if ((!may_be_turned(first) && !may_be_turned(second)) || !gains_by_rows(first, second)) return 0;
  std::vector<Kernel> firsts = with_each_axis_in_front(first);
  std::vector<Kernel> seconds = with_each_axis_in_front(second);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    for (std::size_t k = i == 0 ? 1 : 0; k < seconds.size(); ++k) {
      const std::size_t count = Neighbours(program, caps, firsts[i], seconds[k], nullptr).shared_axes();
      if (count == 0) continue;
      first = std::move(firsts[i]);
      second = std::move(seconds[k]);
      return count;
    }
  }
  return 0;
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

bool join_rows(const KernelProgram& program, const kernel::BackendCaps& caps, std::span<const SizeCheck> checks,
               MayTurn may_turn, Kernel& first, Kernel& second, WhyNot* why) {
  if (is_columns(first) || is_columns(second)) return false;
  std::size_t count = Neighbours(program, caps, first, second, why).shared_axes();
  if (count == 0 && may_turn == MayTurn::yes) count = find_rows(program, caps, first, second);
  if (count == 0) {
    std::optional<Kernel> stretched = over_rows_of(program, first, second, checks);
    if (!stretched) return false;
    count = Neighbours(program, caps, first, *stretched, nullptr).shared_axes();
    if (count == 0) return false;
    second = std::move(*stretched);
  }
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

bool join_columns(const KernelProgram& program, const kernel::BackendCaps& caps, Kernel& first, Kernel& second,
                  WhyNot* why) {
  // A loop that passes all rows takes them in order where it is the first to pass them.
  if (!passes_rows(first)) return false;
  std::optional<Kernel> left = by_columns(first, caps), right = by_columns(second, caps);
  if (!left || !right || Neighbours(program, caps, *left, *right, why).shared_axes() == 0) return false;
  first = std::move(*left);
  append(first, std::move(*right));
  return true;
}

/// The loops as they were before they shared rows; none of tiles, whose loops are cut.
std::optional<Kernel> without_rows(Kernel kernel) {
  if (kernel.is_tiled() || kernel.num_once() > 0) return std::nullopt;
  for (Stage& stage : kernel.stages) stage.axes.insert(stage.axes.begin(), kernel.outer.begin(), kernel.outer.end());
  kernel.outer.clear();
  for (kernel::KernelOutput& output : kernel.outputs) output.is_local = false;
  return kernel;
}

/// Could two kernels share columns, if neither shared rows already? Those come first; and where an axis may be turned
/// to the front for them, choose_turns has compared what moves less.
bool rows_instead_of_columns(const KernelProgram& program, const kernel::BackendCaps& caps, const Kernel& first,
                             const Kernel& second) {
  std::optional<Kernel> left = without_rows(first), right = without_rows(second);
  if (!left || !right) return false;
  const auto is_turnable = [](const Stage& stage) { return stage.axes.size() > 2 && may_permute_axes(stage); };
  if (std::ranges::none_of(left->stages, is_turnable) && std::ranges::none_of(right->stages, is_turnable)) return false;
  return join_columns(program, caps, *left, *right, nullptr);
}

/// (While steps are joined, the program has none.)
std::vector<SizeCheck> size_checks(const KernelProgram& program) {
  std::vector<SizeCheck> out;
  for (const kernel::Step& step : program.steps) {
    if (const auto* check = std::get_if<SizeCheck>(&step)) out.push_back(*check);
  }
  return out;
}

KernelProgram join_rows_and_columns(KernelProgram program, LoopPassContext& context, Turns turns) {
  join_kernels(program, rows_and_columns(program, context.caps, std::move(turns)), context);
  return program;
}

KernelProgram share_given_rows(KernelProgram program, LoopPassContext& context) {
  const Turns none(program.buffers.size(), MayTurn::no);
  return join_rows_and_columns(std::move(program), context, none);
}

KernelProgram share_turned_rows(KernelProgram program, LoopPassContext& context) {
  return join_rows_and_columns(std::move(program), context, {});
}

/// Two kernels that are turned to share rows may be lost for a third one, or would else have shared columns with it: so
/// all are joined both ways, and of each part of the program that is taken which moves less.
Turns choose_turns(const KernelProgram& program, const LoopPassContext& context) {
  const auto is_turnable = [](const kernel::Step& step) {
    const auto* kernel = std::get_if<Kernel>(&step);
    return kernel && may_be_turned(*kernel);
  };
  if (std::ranges::none_of(program.steps, is_turnable)) return {};
  const Trial trial(context);
  const std::array versions = {joined(trial, program, share_given_rows), joined(trial, program, share_turned_rows)};
  const std::vector<TrafficByBuffer> traffic = traffic_by_part(versions);
  Turns out(program.buffers.size(), MayTurn::no);
  for (BufferId buffer : ids<BufferId>(out.size())) {
    if (traffic[1][buffer].is_less_than(traffic[0][buffer])) out[buffer] = MayTurn::yes;
  }
  return out;
}

MayTurn may_turn_for(const Turns& turns, const Kernel& second) {
  if (turns.size() == 0) return MayTurn::yes;
  return second.outputs.empty() ? MayTurn::no : turns[second.outputs[0].buffer];
}

}  // namespace

JoinRule rows_and_columns(const KernelProgram& program, const kernel::BackendCaps& caps, Turns turns) {
  return {"share-rows", Through::nothing,
          [&](const Kernel& first, const Kernel& second, WhyNot* why) {
            return Neighbours(program, caps, first, second, why).may_follow();
          },
          [&, checks = size_checks(program), turns = std::move(turns)](Kernel& first, Between, Kernel& second,
                                                                       WhyNot* why) {
            WhyNot rows, columns;
            const MayTurn may_turn = may_turn_for(turns, second);
            if (join_rows(program, caps, checks, may_turn, first, second, why ? &rows : nullptr)) return true;
            if (join_columns(program, caps, first, second, why ? &columns : nullptr)) return true;
            if (!why) return false;
            if (rows_instead_of_columns(program, caps, first, second)) {
              why->say({ApartFor::moves_more});
            } else {
              why->say_either(rows, columns);
            }
            return false;
          }};
}

KernelProgram share_rows(KernelProgram program, LoopPassContext& context) {
  Turns turns = choose_turns(program, context);
  return join_rows_and_columns(std::move(program), context, std::move(turns));
}

KernelProgram joined(const Trial& trial, KernelProgram program, LoopPassFunction* share) {
  program = trial.run("share-rows", share, std::move(program));
  program = trial.run("join-regions", join_regions, std::move(program));
  return trial.run("join-whole-arrays", join_whole_arrays, std::move(program));
}

}  // namespace inlay::transform
