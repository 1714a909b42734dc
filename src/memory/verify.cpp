#include "memory/verify.h"

#include <algorithm>

#include "memory/replay.h"

namespace inlay::memory::replay {

std::vector<Diagnostic> Replay::run() {
  check_layouts();
  check_lives();
  if (goes_on()) place_buffers();
  if (replay_steps(StepId(0), StepId(program_.steps.size()))) check_outputs();
  return std::move(out_);
}

/// False ends the program.
bool Replay::replay_steps(StepId begin, StepId end) {
  for (uint32_t i = begin.index; i < end.index; ++i) {
    if (!goes_on()) return false;
    step_ = StepId(i);
    const kernel::Step& step = program_.steps[i];
    if (fails_as_a_whole(step)) may_fail();
    if (proof_.is_asked()) proof_.pass_step(step);
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
  return goes_on();
}

bool Replay::replay_loop(const kernel::LoopBegin& loop, const kernel::RegionSpan& region) {
  const bool may_end = std::get<kernel::LoopEnd>(program_.steps[region.end.index]).go_on.valid();
  const int64_t count = value(loop.count);
  for (int64_t pass = 0; pass < count && goes_on(); ++pass) {
    --left_;
    if (proof_.is_asked()) proof_.pass_step(loop);
    if (!may_end) turns_[loop.step] = pass;  // else nobody knows how much of a trace there will be
    // What a body makes for itself is made anew.
    for (BufferId b : ids<BufferId>(places_.size())) {
      const Lifetime& life = liveness_.lives[b];
      const bool is_inside = life.begin > read_tick(region.begin) && life.end < end_tick(region.end);
      if (is_inside) std::ranges::fill(places_[b].expected, 0);
    }
    if (!replay_steps(StepId(region.begin.index + 1), region.end)) return false;
    if (may_end && !choose()) break;
  }
  return true;
}

bool Replay::fails_as_a_whole(const kernel::Step& step) {
  const auto* call = std::get_if<kernel::LibraryCall>(&step);
  return (call && !call->sites.empty()) || std::holds_alternative<kernel::HostCall>(step) ||
         std::holds_alternative<kernel::SizeCheck>(step) || std::holds_alternative<kernel::BindSize>(step);
}

/// Conditions have no values here: one way for all, or in turn.
bool Replay::choose() {
  switch (ways_) {
    case Ways::all_true: return true;
    case Ways::all_false: return false;
    case Ways::in_turn: return num_choices_++ % 2 == 0;
  }
  return true;
}

/// What was replayed in part has not written what it should have.
void Replay::wrong(std::string message) {
  if (left_ > 0 && out_.size() < kMostMessages) out_.push_back({ErrorCode::internal, {}, std::move(message), {}, {}});
}

/// Asked for at every access, so found once.
int64_t Replay::count(BufferId b) {
  if (counts_[b] < 0) counts_[b] = std::max<int64_t>(value(num_elements(program_.buffers[b])), 0);
  return counts_[b];
}

}  // namespace inlay::memory::replay

namespace inlay::memory {

std::vector<Diagnostic> verify(const kernel::KernelProgram& program, const MemoryPlan& plan,
                               std::span<const Layout> layouts, std::span<const int64_t> symbols,
                               const ReplayLimits& limits) {
  std::vector<Diagnostic> out = replay::Replay(program, plan, layouts, symbols, replay::Ways::all_true, limits).run();
  if (kernel::regions_of(program).empty()) return out;
  for (replay::Ways ways : {replay::Ways::all_false, replay::Ways::in_turn}) {
    if (out.empty()) out = replay::Replay(program, plan, layouts, symbols, ways, limits).run();
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
