#include "memory/verify.h"

#include <algorithm>

#include "kernel/regions.h"
#include "memory/replay.h"

namespace inlay::memory::replay {

namespace {

/// Which branches the conditions of conds and loops take in a replay.
enum class Ways : uint8_t { all_true, all_false, in_turn };

void check_layouts(const Sharing& sharing, std::span<const Layout> layouts, std::span<const int64_t> symbols,
                   Progress& progress) {
  if (layouts.size() != sharing.segment_starts.size()) {
    return progress.wrong(str(layouts.size(), " layouts for ", sharing.segment_starts.size(), " segments"));
  }
  for (int segment = 0; segment < sharing.num_segments(); ++segment) {
    const std::vector<Storage> storages = storages_of_segment(sharing, segment, symbols);
    for (const Diagnostic& d : memory::verify(layouts[segment], storages)) {
      progress.wrong(str("segment ", segment, ": ", d.message));
    }
  }
}

/// Checks that a storage is live wherever one of its buffers is used.
void check_lives(const KernelProgram& program, const Liveness& lives, const Sharing& sharing, Progress& progress) {
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    const Placement& placement = sharing.placements[b];
    if (!placement.storage.valid() || kernel::root_of(program, b) != b || lives.uses[b].writes.empty()) continue;
    const SharedStorage& storage = sharing.storages[placement.storage];
    const Lifetime& need = lives.lives[b];
    if (storage.live.begin > need.begin || storage.live.end < need.end) {
      progress.wrong(str(program.buffers[b].name, " is needed in [", need.begin, ", ", need.end, "), but its storage ",
                         storage.name, " lives in [", storage.live.begin, ", ", storage.live.end, ")"));
    }
  }
}

bool fails_as_a_whole(const kernel::Step& step) {
  const auto* call = std::get_if<kernel::LibraryCall>(&step);
  return (call && may_fail(*call)) || std::holds_alternative<kernel::HostCall>(step) ||
         std::holds_alternative<kernel::SizeCheck>(step) || std::holds_alternative<kernel::BindSize>(step);
}

/// Replays the steps in order, with loops and conds.
class Replay {
 public:
  Replay(const KernelProgram& program, std::span<const int64_t> symbols, Ways ways, const ReplayLimits& limits)
      : program_(program),
        symbols_(symbols),
        regions_(kernel::regions_of(program)),
        liveness_(liveness(program)),
        ways_(ways),
        state_(program, symbols, limits) {}

  std::vector<Diagnostic> run(const Sharing& sharing, std::span<const Layout> layouts) {
    check_layouts(sharing, layouts, symbols_, progress_);
    check_lives(program_, liveness_, sharing, progress_);
    if (progress_.goes_on()) elements_.place(sharing, layouts);
    if (replay_steps(StepId(0), StepId(program_.steps.size()))) check_outputs();
    return std::move(progress_).found();
  }

 private:
  /// False ends the program.
  bool replay_steps(StepId begin, StepId end) {
    for (uint32_t i = begin.index; i < end.index; ++i) {
      if (!progress_.goes_on()) return false;
      progress_.begin(StepId(i));
      const kernel::Step& step = program_.steps[i];
      if (fails_as_a_whole(step)) elements_.may_fail();
      if (state_.proof.is_asked()) state_.proof.pass_step(step);
      if (const auto* loop = std::get_if<kernel::LoopBegin>(&step)) {
        const kernel::RegionSpan& region = region_at(regions_, StepId(i));
        if (!replay_loop(*loop, region)) return false;
        i = region.end.index;
      } else if (std::holds_alternative<kernel::CondBegin>(step)) {
        const kernel::RegionSpan& region = region_at(regions_, StepId(i));
        const bool ok = choose() ? replay_steps(StepId(i + 1), region.otherwise)
                                 : replay_steps(StepId(region.otherwise.index + 1), region.end);
        if (!ok) return false;
        i = region.end.index;
      } else if (!std::visit([&](const auto& s) { return replay(s); }, step)) {
        return false;
      }
    }
    return progress_.goes_on();
  }

  bool replay_loop(const kernel::LoopBegin& loop, const kernel::RegionSpan& region) {
    const bool may_end = std::get<kernel::LoopEnd>(program_.steps[region.end.index]).go_on.valid();
    const int64_t count = elements_.value(loop.count);
    for (int64_t pass = 0; pass < count && progress_.goes_on(); ++pass) {
      progress_.pass();
      if (state_.proof.is_asked()) state_.proof.pass_step(loop);
      if (!may_end) state_.turns[loop.step] = pass;  // else the length of a trace is unknown
      // What a body makes for itself is made anew in each iteration.
      for (BufferId b : ids<BufferId>(program_.buffers.size())) {
        const Lifetime& life = liveness_.lives[b];
        const bool is_inside = life.begin > read_tick(region.begin) && life.end < end_tick(region.end);
        if (is_inside) elements_.forget(b);
      }
      if (!replay_steps(StepId(region.begin.index + 1), region.end)) return false;
      if (may_end && !choose()) break;
    }
    return true;
  }

  /// Conditions have no values here: all take one branch, or they alternate.
  bool choose() {
    switch (ways_) {
      case Ways::all_true: return true;
      case Ways::all_false: return false;
      case Ways::in_turn: return num_choices_++ % 2 == 0;
    }
    return true;
  }

  // A step; false ends the program.

  bool replay(const kernel::Kernel& kernel) {
    replay_kernel(kernel, state_);
    return true;
  }
  bool replay(const kernel::LibraryCall& call) {
    replay_call(call, state_);
    return true;
  }
  bool replay(const kernel::HostCall& call) {
    for (BufferId operand : call.operands) elements_.read_all(operand);
    return true;
  }
  bool replay(const kernel::Copy& copy) {
    elements_.copy_all(copy.source, copy.destination, copy.elided);
    return true;
  }
  bool replay(const kernel::SizeCheck& check) {
    const int64_t left = elements_.value(check.left), right = elements_.value(check.right);
    return check.relation == DimCheck::Relation::equal ? left == right : left <= right;
  }
  bool replay(const kernel::BindSize&) { return true; }  // it sets a register, and the size is given
  bool replay(const kernel::LoopBegin&) { return true; }
  bool replay(const kernel::LoopEnd&) { return true; }
  bool replay(const kernel::CondBegin&) { return true; }
  bool replay(const kernel::CondElse&) { return true; }
  bool replay(const kernel::CondEnd&) { return true; }

  void check_outputs() {
    for (BufferId b : program_.outputs) {
      if (!progress_.goes_on()) return;
      progress_.begin(StepId(program_.steps.size() - 1));
      elements_.read_all(b);
    }
  }

  const KernelProgram& program_;
  std::span<const int64_t> symbols_;
  const std::vector<kernel::RegionSpan> regions_;
  const Liveness liveness_;
  const Ways ways_;
  int num_choices_ = 0;
  State state_;
  Progress& progress_ = state_.progress;
  Elements& elements_ = state_.elements;
};

}  // namespace

}  // namespace inlay::memory::replay

namespace inlay::memory {

std::vector<Diagnostic> verify(const kernel::KernelProgram& program, const MemoryPlan& plan,
                               std::span<const Layout> layouts, std::span<const int64_t> symbols,
                               const ReplayLimits& limits) {
  std::vector<Diagnostic> out =
      replay::Replay(program, symbols, replay::Ways::all_true, limits).run(plan.sharing, layouts);
  if (kernel::regions_of(program).empty()) return out;
  for (replay::Ways ways : {replay::Ways::all_false, replay::Ways::in_turn}) {
    if (out.empty()) out = replay::Replay(program, symbols, ways, limits).run(plan.sharing, layouts);
  }
  return out;
}

std::vector<Diagnostic> verify(const kernel::KernelProgram& program, const MemoryPlan& plan,
                               std::span<const int64_t> symbols, Planner planner, const ReplayLimits& limits) {
  std::vector<Layout> layouts;
  for (int segment = 0; segment < plan.sharing.num_segments(); ++segment) {
    layouts.push_back(memory::plan(planner, storages_of_segment(plan.sharing, segment, symbols)));
  }
  return verify(program, plan, layouts, symbols, limits);
}

}  // namespace inlay::memory
