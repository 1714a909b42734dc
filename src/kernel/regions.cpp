#include "kernel/regions.h"

#include <algorithm>

namespace inlay::kernel {
namespace {

struct Found {
  std::vector<RegionSpan> regions;
  std::string mistake;
};

Found find(const KernelProgram& program) {
  Found out;
  std::vector<std::size_t> open;  // indices into regions
  const auto is_open_loop = [&] {
    return !open.empty() && std::holds_alternative<LoopBegin>(program.steps[out.regions[open.back()].begin.index]);
  };
  const auto is_open_cond = [&] { return !open.empty() && !is_open_loop(); };
  for (StepId step : ids<StepId>(program.steps.size())) {
    const Step& marker = program.steps[step.index];
    if (opens_body(marker)) {
      const int around = open.empty() ? -1 : static_cast<int>(open.back());
      open.push_back(out.regions.size());
      out.regions.push_back({.begin = step, .around = around});
    } else if (std::holds_alternative<CondElse>(marker)) {
      if (!is_open_cond() || out.regions[open.back()].otherwise.valid()) return {{}, "an else belongs to no cond"};
      out.regions[open.back()].otherwise = step;
    } else if (std::holds_alternative<LoopEnd>(marker)) {
      if (!is_open_loop()) return {{}, "the end of a loop belongs to none"};
      out.regions[open.back()].end = step;
      open.pop_back();
    } else if (std::holds_alternative<CondEnd>(marker)) {
      if (!is_open_cond() || !out.regions[open.back()].otherwise.valid())
        return {{}, "the end of a cond belongs to none"};
      out.regions[open.back()].end = step;
      open.pop_back();
    }
  }
  if (!open.empty()) return {{}, "a loop or cond has no end"};
  return out;
}

}  // namespace

std::vector<RegionSpan> regions_of(const KernelProgram& program) { return find(program).regions; }

Nesting::Nesting(const KernelProgram& program) : regions_(regions_of(program)) {
  if (is_empty()) return;
  innermost_.resize(program.steps.size(), -1);
  std::size_t next = 0;
  int region = -1;
  for (StepId step : ids<StepId>(program.steps.size())) {
    if (next < regions_.size() && regions_[next].begin == step) region = static_cast<int>(next++);
    innermost_[step] = region;
    if (region >= 0 && at(region)->end == step) region = at(region)->around;
  }
}

const RegionSpan* Nesting::holding(StepId step) const {
  const RegionSpan* region = innermost(step);
  while (region && !region->holds(step)) region = around(*region);
  return region;
}

const RegionSpan& region_at(const std::vector<RegionSpan>& regions, StepId begin) {
  const auto found = std::ranges::lower_bound(regions, begin, {}, &RegionSpan::begin);
  INLAY_CHECK(found != regions.end() && found->begin == begin, "no region begins at step ", begin.index);
  return *found;
}

std::string why_not_nested(const KernelProgram& program) { return find(program).mistake; }

}  // namespace inlay::kernel
