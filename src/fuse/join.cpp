#include "fuse/join.h"

#include <algorithm>

namespace inlay::fuse {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using kernel::Step;

namespace {

// How many steps are looked at for a way from one kernel to another, before one is taken for granted.
constexpr std::size_t kMaxSearch = 256;

using GroupId = Id<struct GroupTag>;

/// A step, or several kernels that have become one.
struct Group {
  Step step;
  std::vector<GroupId> after;  // it waits for these
  int seen_in = 0;             // the last search that came by
};

/// The steps as a graph of what waits for what.
class Joiner {
 public:
  explicit Joiner(KernelProgram& program)
      : program_(program), writer_(program.buffers.size()), readers_(program.buffers.size()) {}

  void run(const TryJoin& try_join) {
    for (Step& step : program_.steps) add(std::move(step), try_join);
    program_.steps.clear();
    std::vector<bool> placed(groups_.size(), false);
    for (GroupId id : ids<GroupId>(groups_.size())) place(id, placed);
  }

 private:
  void add(Step step, const TryJoin& try_join) {
    const kernel::StepAccess access = access_of(program_, step);
    const auto* kernel = std::get_if<Kernel>(&step);
    const auto* call = std::get_if<kernel::LibraryCall>(&step);
    const bool fails = kernel ? any_statement(*kernel, &Statement::can_fail) : call && !call->sites.empty();
    // It may bind or check a size, or do what nobody sees, or be the end of a body, or stand in one: nothing passes it.
    depth_ += opens_body(step) ? 1 : closes_body(step) ? -1 : 0;
    const bool moves = kernel || call || std::holds_alternative<kernel::Copy>(step);
    const bool parts = !moves || depth_ > 0;
    std::vector<GroupId> after = waits_for(access);
    if (fails) add_valid(after, last_failing_);
    if (parts) after.insert(after.end(), since_parted_.begin(), since_parted_.end());
    std::ranges::sort(after, std::greater());
    const auto again = std::ranges::unique(after);
    after.erase(again.begin(), again.end());

    const GroupId id =
        parts ? push(std::move(step), std::move(after)) : join_or_push(std::move(step), std::move(after), try_join);
    note(access, id);
    if (fails) last_failing_ = id;
    if (parts) {
      parted_ = id;
      since_parted_.clear();
    } else {
      since_parted_.push_back(id);
    }
  }

  GroupId join_or_push(Step step, std::vector<GroupId> after, const TryJoin& try_join) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (kernel && !kernel->is_scalar()) {
      for (GroupId candidate : after) {
        auto* first = std::get_if<Kernel>(&groups_[candidate].step);
        if (!first || first->is_scalar() || some_come_after(after, candidate)) continue;
        if (!try_join(*first, *kernel)) continue;
        std::erase(after, candidate);
        std::vector<GroupId>& all = groups_[candidate].after;
        all.insert(all.end(), after.begin(), after.end());
        return candidate;
      }
    }
    return push(std::move(step), std::move(after));
  }

  GroupId push(Step step, std::vector<GroupId> after) { return groups_.push_back({std::move(step), std::move(after)}); }

  static bool opens_body(const Step& step) {
    return std::holds_alternative<kernel::LoopBegin>(step) || std::holds_alternative<kernel::CondBegin>(step);
  }
  static bool closes_body(const Step& step) {
    return std::holds_alternative<kernel::LoopEnd>(step) || std::holds_alternative<kernel::CondEnd>(step);
  }

  std::vector<GroupId> waits_for(const kernel::StepAccess& access) const {
    std::vector<GroupId> out;
    add_valid(out, parted_);
    for (BufferId b : access.reads) add_valid(out, writer_[b]);
    for (BufferId b : access.writes) {
      add_valid(out, writer_[b]);
      out.insert(out.end(), readers_[b].begin(), readers_[b].end());
    }
    return out;
  }

  static void add_valid(std::vector<GroupId>& list, GroupId id) {
    if (id.valid()) list.push_back(id);
  }

  void note(const kernel::StepAccess& access, GroupId id) {
    for (BufferId b : access.reads) readers_[b].push_back(id);
    for (BufferId b : access.writes) {
      writer_[b] = id;
      readers_[b].clear();
    }
  }

  /// Does another of the groups wait for `first`, at once or through others?
  bool some_come_after(const std::vector<GroupId>& groups, GroupId first) {
    std::vector<GroupId>& seen = seen_;
    ++search_;
    seen.clear();
    const auto see = [&](GroupId id) {
      if (groups_[id].seen_in == search_) return;
      groups_[id].seen_in = search_;
      seen.push_back(id);
    };
    for (GroupId id : groups) {
      if (id != first) see(id);
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      for (GroupId before : groups_[seen[i]].after) {
        if (before == first || seen.size() > kMaxSearch) return true;
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
        program_.steps.push_back(std::move(groups_[next].step));
      }
    }
  }

  KernelProgram& program_;
  IdMap<GroupId, Group> groups_;
  IdMap<BufferId, GroupId> writer_;                // by root: the last one
  IdMap<BufferId, std::vector<GroupId>> readers_;  // since it was written
  std::vector<GroupId> since_parted_;
  GroupId parted_, last_failing_;
  std::vector<GroupId> seen_;  // of the search that runs
  int search_ = 0;
  int depth_ = 0;  // of bodies
};

}  // namespace

void append(Kernel& first, Kernel second) {
  for (const KernelOutput& output : second.outputs) {
    const bool listed =
        std::ranges::any_of(first.outputs, [&](const KernelOutput& o) { return o.buffer == output.buffer; });
    if (!listed) first.outputs.push_back(output);
  }
  for (Stage& stage : second.stages) first.stages.push_back(std::move(stage));
}

void join_kernels(KernelProgram& program, const TryJoin& try_join) { Joiner(program).run(try_join); }

}  // namespace inlay::fuse
