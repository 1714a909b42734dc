#include "kernel/dependences.h"

#include <algorithm>
#include <map>

#include "kernel/sizes.h"

namespace inlay::kernel {
namespace {

// The maximum number of steps that a search from one step to another visits.
constexpr std::size_t kMaxSearch = 256;

/// Calls visit(symbol) with those of the sizes that the step needs.
template <class Visit>
void for_each_symbol(const KernelProgram& program, const Step& step, Visit visit) {
  const auto visit_all = [&](const Dim& size) {
    for (SymbolId symbol : size.symbols()) visit(symbol);
  };
  if (const auto* loop = std::get_if<LoopBegin>(&step)) visit_all(loop->count);
  if (const auto* call = std::get_if<LibraryCall>(&step)) for_each_size(*call, visit_all);
  const auto* kernel = std::get_if<Kernel>(&step);
  if (!kernel) return;
  for_each_size(*kernel, visit_all);
  for (const KernelOutput& output : kernel->outputs) {
    std::ranges::for_each(program.buffers[output.buffer].dims, visit_all);
  }
}

/// An open body, or both bodies of a cond.
struct OpenBody {
  StepId begin, marker;  // of a cond's second body the marker is the else
  StepAccess access;     // of all steps in it
  std::vector<StepId> steps;
};

void add(const StepAccess& access, StepAccess& to) {
  to.reads.insert(to.reads.end(), access.reads.begin(), access.reads.end());
  to.writes.insert(to.writes.end(), access.writes.begin(), access.writes.end());
  to.checks.insert(to.checks.end(), access.checks.begin(), access.checks.end());
}

}  // namespace

void LastUses::add(StepId step, const StepAccess& access) {
  for (BufferId b : access.reads) readers_[b].push_back(step);
  for (BufferId b : access.writes) {
    writer_[b] = step;
    readers_[b].clear();
  }
  for (SiteId site : access.checks) checkers_[site].push_back(step);
}

Dependences::Dependences(const KernelProgram& program)
    : before_(program.steps.size()), body_of_(program.steps.size()), regions_(regions_of(program)) {
  LastUses uses(program);
  IdMap<SymbolId, StepId> binder(program.symbols.size());
  std::vector<OpenBody> open;
  for (StepId id : ids<StepId>(program.steps.size())) {
    const Step& step = program.steps[id.index];
    StepAccess access = access_of(program, step);
    if (closes_body(step) && !open.empty()) {
      for (StepId inside : open.back().steps) wait(id, inside);
      add(open.back().access, access);  // a later step that uses what the body uses waits for its end
      open.pop_back();
    }
    if (!open.empty()) {
      body_of_[id] = std::holds_alternative<CondElse>(step) ? body_of_[open.back().begin] : open.back().marker;
      wait(id, open.back().marker);
      open.back().steps.push_back(id);
      add(access, open.back().access);
    }
    uses.for_each_before(access, [&](StepId before) { wait(id, before); });
    for_each_symbol(program, step, [&](SymbolId symbol) { wait(id, binder[symbol]); });
    for (SymbolId symbol : symbols_bound_by(step)) binder[symbol] = id;
    uses.add(id, access);
    if (opens_body(step)) open.push_back({.begin = id, .marker = id});
    if (std::holds_alternative<CondElse>(step) && !open.empty()) open.back().marker = id;
  }
}

std::optional<std::vector<StepId>> Dependences::between(StepId first, StepId second) const {
  std::map<StepId, bool> waits;  // for the steps before `second` that it waits for: do they wait for `first`?
  std::vector<StepId> todo = {second};
  while (!todo.empty()) {
    const StepId step = todo.back();
    todo.pop_back();
    for (StepId before : before_[step]) {
      if (first < before && waits.emplace(before, false).second) todo.push_back(before);
    }
    if (waits.size() > kMaxSearch) return std::nullopt;
  }
  std::vector<StepId> out;
  for (auto& [step, it_waits] : waits) {
    it_waits = std::ranges::any_of(before_[step], [&](StepId before) {
      const auto found = waits.find(before);
      return before == first || (found != waits.end() && found->second);
    });
    if (!it_waits) continue;
    // Outer regions come first, so this finds the outermost of those that end before `second`.
    const auto region = std::ranges::find_if(
        regions_, [&](const RegionSpan& r) { return r.begin <= step && step <= r.end && !r.holds(second); });
    const StepId seen = region == regions_.end() ? step : region->begin;
    if (out.empty() || out.back() != seen) out.push_back(seen);
  }
  return out;
}

}  // namespace inlay::kernel
