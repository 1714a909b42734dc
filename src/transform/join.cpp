#include "transform/join.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernel/dependences.h"
#include "kernel/regions.h"
#include "kernel/steps.h"
#include "support/stop.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Start;
using kernel::Statement;
using kernel::Step;
using kernel::StepId;

namespace {

// Where more steps than these come before one, a way from any of them to it is taken for granted.
constexpr std::size_t kMaxSearch = 256;

// After so many offers of joined kernels that nobody took there are no more: each takes time in proportion to the
// length of the kernel, and of a long program's almost all are in vain.
constexpr int kMostVainOffers = 32;

constexpr std::size_t kMostLoops = 32;  // of one kernel

/// What only begins something, for a call that writes into it, has none.
bool has_loops(const Kernel& kernel) { return !kernel.is_scalar() && !kernel.stages.empty(); }

using GroupId = Id<struct GroupTag>;

/// A step, or several kernels that have become one.
struct Group {
  Step step;
  std::vector<GroupId> after;  // it waits for these
  int seen_in = 0;             // the last search that came by
  int listed_in = 0;           // the last list of what is between that has looked at it
  bool has_long_past = false;  // more than kMaxSearch groups come before it: once that is so, it stays so
  int short_past_in = -1;      // the number of changes of what waits for what when it had no long past
  bool in_another = false;     // it is a part of a kernel by now, which it waits for
};

/// The steps as a graph of what waits for what.
class Joiner {
 public:
  Joiner(KernelProgram& program, const JoinRule& rule, LoopPassContext& context)
      : program_(program),
        rule_(rule),
        context_(context),
        through_scalars_(rule.through == Through::scalars),
        uses_(program),
        group_of_(program.steps.size()) {}

  void run() {
    for (StepId id : ids<StepId>(program_.steps.size())) {
      checkpoint();
      add(id, std::move(program_.steps[id.index]));
    }
    program_.steps.clear();
    std::vector<bool> placed(groups_.size(), false);
    for (GroupId id : ids<GroupId>(groups_.size())) place(id, placed);
  }

 private:
  void add(StepId step_id, Step step) {
    const kernel::StepAccess access = access_of(program_, step);
    const bool fails = can_fail(step);
    depth_ += opens_body(step) ? 1 : closes_body(step) ? -1 : 0;
    const bool parts = !moves(step) || depth_ > 0;  // (what stands in a body does not move either)
    std::vector<GroupId> after = waits_for(access);
    if (fails) add_valid(after, last_failing_);
    if (parts) after.insert(after.end(), since_parted_.begin(), since_parted_.end());
    after = in_turn(std::move(after));

    const GroupId id =
        parts ? push(std::move(step), std::move(after)) : join_or_push(std::move(step), std::move(after));
    uses_.add(step_id, access);
    group_of_[step_id] = id;
    if (fails) last_failing_ = id;
    if (parts) {
      parted_ = id;
      since_parted_.clear();
    } else {
      since_parted_.push_back(id);
    }
  }

  GroupId join_or_push(Step step, std::vector<GroupId> after) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel || !has_loops(*kernel)) return push(std::move(step), std::move(after));
    const GroupId first = join(*kernel, after);
    if (!first.valid()) return push(std::move(step), std::move(after));
    if (!through_scalars_ || !std::get<Kernel>(groups_[first].step).outer.empty()) offer_again(first);
    return host(first);
  }

  /// With what it has taken in it may fit to one of those that it waits for, though it did not fit alone. (Where 0-d
  /// arithmetic is taken along, a search for what stands between is long: a model of 5000 nodes took 1.5 x as long. So
  /// there only rows are offered again, which may have taken in one of several parts beside them.)
  void offer_again(GroupId at) {
    while (vain_offers_ < kMostVainOffers) {
      const GroupId earlier = join(std::get<Kernel>(groups_[at].step), in_turn(groups_[at].after));
      if (!earlier.valid()) return void(++vain_offers_);
      become_parts({at}, earlier);
      at = earlier;
    }
  }

  /// Makes the kernel, which waits for `after`, a part of one of them, and returns that; none: none takes it.
  GroupId join(Kernel& kernel, const std::vector<GroupId>& after) {
    for (GroupId candidate : kernels_before(after)) {
      if (!rule_.fits(std::get<Kernel>(groups_[candidate].step), kernel, nullptr)) continue;
      if (!context_.allows()) continue;
      const std::optional<std::vector<GroupId>> between = scalars_between(candidate, after);
      if (!between) continue;
      std::vector<Kernel*> scalars;
      for (GroupId id : *between) scalars.push_back(&std::get<Kernel>(groups_[id].step));
      if (!rule_.join(std::get<Kernel>(groups_[candidate].step), scalars, kernel, nullptr)) continue;
      context_.fired();
      become_parts(*between, candidate);
      wait_for(candidate, after);
      return candidate;
    }
    return {};
  }

  /// What the groups have waited for the kernel waits for now.
  void become_parts(const std::vector<GroupId>& groups, GroupId kernel) {
    for (GroupId id : groups) groups_[id].in_another = true;
    for (GroupId id : groups) wait_for(kernel, std::exchange(groups_[id].after, {kernel}));
  }

  /// Each once, the last one first; instead of what is a part of a kernel by now that kernel.
  std::vector<GroupId> in_turn(std::vector<GroupId> groups) const {
    for (GroupId& id : groups) id = host(id);
    std::ranges::sort(groups, std::greater());
    const auto again = std::ranges::unique(groups);
    groups.erase(again.begin(), again.end());
    return groups;
  }

  bool is_scalar(GroupId id) const {
    const auto* kernel = std::get_if<Kernel>(&groups_[id].step);
    return kernel && kernel->is_scalar();
  }

  /// What a kernel that waits for these may become a part of: the kernels among them, and those that 0-d arithmetic
  /// among them waits for where it is taken along; the last one first.
  std::vector<GroupId> kernels_before(const std::vector<GroupId>& groups) {
    std::vector<GroupId> out, todo = groups;
    GroupId far;  // has a long past: it stands between the kernel and any other (scalars_between)
    ++list_;
    while (!todo.empty() && out.size() < kMaxSearch) {
      const GroupId id = host(todo.back());
      todo.pop_back();
      if (std::exchange(groups_[id].listed_in, list_) == list_) continue;
      if (through_scalars_ && is_scalar(id)) {
        todo.insert(todo.end(), groups_[id].after.begin(), groups_[id].after.end());
        continue;
      }
      if (had_long_past(id)) {
        if (far.valid()) return {};
        far = id;
      }
      const auto* kernel = std::get_if<Kernel>(&groups_[id].step);
      if (kernel && has_loops(*kernel)) out.push_back(id);
    }
    if (far.valid()) std::erase_if(out, [&](GroupId id) { return id != far; });
    std::ranges::sort(out, std::greater());
    return out;
  }

  /// What of `groups`, and of what they wait for, comes after `first`: none where that is more than 0-d arithmetic.
  std::optional<std::vector<GroupId>> scalars_between(GroupId first, const std::vector<GroupId>& groups) {
    std::vector<GroupId> others, scalars, todo = groups;
    std::size_t num_seen = 0;
    ++list_;
    while (!todo.empty()) {
      const GroupId id = host(todo.back());
      todo.pop_back();
      if (id == first || std::exchange(groups_[id].listed_in, list_) == list_) continue;
      if (++num_seen > kMaxSearch + 1) return std::nullopt;
      if (!through_scalars_ || !is_scalar(id)) {
        if (has_long_past(id)) return std::nullopt;
        others.push_back(id);
      } else if (some_come_after({id}, first)) {
        scalars.push_back(id);
        todo.insert(todo.end(), groups_[id].after.begin(), groups_[id].after.end());
      }
    }
    if (some_come_after(others, first)) return std::nullopt;
    return in_order(std::move(scalars));
  }

  /// The kernel that the group has become a part of, or itself.
  GroupId host(GroupId id) const {
    while (groups_[id].in_another) id = groups_[id].after.front();
    return id;
  }

  /// Each behind those of them that it waits for.
  std::vector<GroupId> in_order(std::vector<GroupId> groups) const {
    std::vector<GroupId> out;
    while (!groups.empty()) {
      const auto waits = [&](GroupId id) {
        return std::ranges::any_of(groups_[id].after,
                                   [&](GroupId before) { return std::ranges::find(groups, before) != groups.end(); });
      };
      const auto next = std::ranges::find_if_not(groups, waits);
      out.push_back(*next);
      groups.erase(next);
    }
    return out;
  }

  /// `first` waits for these as well, but for itself and what it has taken in.
  void wait_for(GroupId first, const std::vector<GroupId>& groups) {
    // Each once: a kernel that takes in many steps would else have as many entries as they have, for every search to
    // walk through.
    ++changes_;
    std::vector<GroupId>& after = groups_[first].after;
    ++search_;
    for (GroupId id : after) groups_[id].seen_in = search_;
    for (GroupId id : groups) {
      const GroupId before = host(id);
      if (before != first && std::exchange(groups_[before].seen_in, search_) != search_) after.push_back(before);
    }
  }

  GroupId push(Step step, std::vector<GroupId> after) { return groups_.push_back({std::move(step), std::move(after)}); }

  std::vector<GroupId> waits_for(const kernel::StepAccess& access) const {
    std::vector<GroupId> out;
    add_valid(out, parted_);
    uses_.for_each_before(access, [&](StepId before) { out.push_back(group_of_[before]); });
    return out;
  }

  static void add_valid(std::vector<GroupId>& list, GroupId id) {
    if (id.valid()) list.push_back(id);
  }

  /// Does another of the groups wait for `first`, at once or through others?
  bool some_come_after(const std::vector<GroupId>& groups, GroupId first) {
    const auto is_other = [&](GroupId id) { return id != first; };
    if (std::ranges::any_of(groups, [&](GroupId id) { return is_other(id) && has_long_past(id); })) return true;
    return search(groups, first);
  }

  bool has_long_past(GroupId id) {
    if (groups_.size() <= kMaxSearch) return false;
    Group& group = groups_[id];
    if (!group.has_long_past && std::exchange(group.short_past_in, changes_) != changes_) {
      group.has_long_past = search({id}, /*first=*/{});
    }
    return group.has_long_past;
  }

  /// Had it one when it was last looked at? (A search each time takes longer than what it saves.)
  bool had_long_past(GroupId id) {
    const Group& group = groups_[id];
    return group.short_past_in < 0 ? has_long_past(id) : group.has_long_past;
  }

  /// Is `first` among what the groups, but for itself, wait for, or is that too much to look through?
  bool search(const std::vector<GroupId>& groups, GroupId first) {
    ++search_;
    seen_.clear();
    const auto see = [&](GroupId id) {
      if (std::exchange(groups_[id].seen_in, search_) != search_) seen_.push_back(id);
    };
    for (GroupId id : groups) {
      if (id != first) see(id);
    }
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const Group& group = groups_[seen_[i]];
      if (group.has_long_past) return true;
      for (GroupId before : group.after) {
        if (before == first || seen_.size() > kMaxSearch) return true;
        see(before);
      }
    }
    return false;
  }

  /// Behind all that it waits for.
  void place(GroupId id, std::vector<bool>& placed) {
    std::vector<GroupId> pending = {id};
    while (!pending.empty()) {
      const GroupId next = pending.back();
      const auto not_yet = [&](GroupId before) { return !placed[before.index]; };
      const std::vector<GroupId>& after = groups_[next].after;
      if (placed[next.index]) {
        pending.pop_back();
      } else if (std::ranges::any_of(after, not_yet)) {
        std::ranges::copy_if(after, std::back_inserter(pending), not_yet);
      } else {
        placed[next.index] = true;
        if (!groups_[next].in_another) program_.steps.push_back(std::move(groups_[next].step));
      }
    }
  }

  KernelProgram& program_;
  const JoinRule& rule_;
  LoopPassContext& context_;
  const bool through_scalars_;
  IdMap<GroupId, Group> groups_;
  kernel::LastUses uses_;
  IdMap<StepId, GroupId> group_of_;
  std::vector<GroupId> since_parted_;
  GroupId parted_, last_failing_;
  std::vector<GroupId> seen_;  // of the search that runs
  int search_ = 0, list_ = 0, changes_ = 0;
  int vain_offers_ = 0;
  int depth_ = 0;  // of bodies
};

bool touches(const KernelProgram& program, const Kernel& kernel, BufferId buffer) {
  const BufferId root = root_of(program, buffer);
  return writes(program, kernel, buffer) ||
         any_statement(kernel, [&](const Statement& s) { return s.has_place() && root_of(program, s.buffer) == root; });
}

}  // namespace

void append(Kernel& first, Kernel second) {
  for (const KernelOutput& output : second.outputs) {
    const bool listed =
        std::ranges::any_of(first.outputs, [&](const KernelOutput& o) { return o.buffer == output.buffer; });
    if (!listed) first.outputs.push_back(output);
  }
  for (Stage& stage : second.stages) first.stages.push_back(std::move(stage));
}

bool has_few_loops(const Kernel& first, const Kernel& second, WhyNot* why) {
  const std::size_t loops = first.stages.size() + second.stages.size();
  if (loops > kMostLoops && why) why->say({ApartFor::many_loops, {}, {}, static_cast<int64_t>(loops)});
  return loops <= kMostLoops;
}

bool writes(const KernelProgram& program, const Kernel& kernel, BufferId buffer) {
  const BufferId root = root_of(program, buffer);
  return std::ranges::any_of(kernel.outputs, [&](const KernelOutput& o) { return root_of(program, o.buffer) == root; });
}

bool starts_can_be_earlier(const KernelProgram& program, const Kernel& kernel, std::span<const Kernel* const> before,
                           WhyNot* why) {
  return std::ranges::all_of(kernel.outputs, [&](const KernelOutput& output) {
    if (output.start.kind == Start::Kind::keep) return true;
    const bool is_copy = output.start.kind == Start::Kind::copy;
    return std::ranges::none_of(before, [&](const Kernel* earlier) {
      const bool copies = is_copy && writes(program, *earlier, output.start.source);
      const bool is_early = copies || touches(program, *earlier, output.buffer);
      if (is_early && why) why->say({ApartFor::whole_start, output.buffer, copies ? output.start.source : BufferId()});
      return is_early;
    });
  });
}

void join_kernels(KernelProgram& program, const JoinRule& rule, LoopPassContext& context) {
  Joiner(program, rule, context).run();
}

bool would_join(const KernelProgram& program, const JoinRule& rule, const Kernel& first,
                std::span<const Kernel> between, const Kernel& second, WhyNot& why) {
  if (!has_loops(first) || !has_loops(second)) return false;
  const bool fits = rule.fits(first, second, &why);
  if (!fits && !why.refusal()) return false;  // it is not about such kernels
  const bool stands_between = rule.through == Through::nothing && !between.empty();
  if (stands_between) {
    for (const KernelOutput& output : first.outputs) {
      const bool is_changed =
          std::ranges::any_of(between, [&](const Kernel& scalar) { return writes(program, scalar, output.buffer); });
      if (is_changed && touches(program, second, output.buffer)) why.say({ApartFor::whole_parts, output.buffer});
    }
  }
  // Joining changes them, and most pairs do not come to here.
  Kernel joined = first;
  Kernel added = second;
  std::vector<Kernel> copies(between.begin(), between.end());
  std::vector<Kernel*> scalars;
  for (Kernel& scalar : copies) scalars.push_back(&scalar);
  return rule.join(joined, scalars, added, &why) && fits && !stands_between;
}

}  // namespace inlay::transform
