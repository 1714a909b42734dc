#include "transform/moving_steps.h"

#include <algorithm>

#include "kernel/visit.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::KernelProgram;
using kernel::Step;
using kernel::StepId;

namespace {

constexpr int64_t kGap = int64_t{1} << 30;  // between the labels of neighbours in the beginning

}  // namespace

MovingSteps::MovingSteps(KernelProgram& program) : program_(program), naming_(program.buffers.size()) {
  for (StepId step : ids<StepId>(program.steps.size())) {
    at_.push_back(kGap * static_cast<int64_t>(step.index));
    if (!symbols_bound_by(program.steps[step.index]).empty()) binding_.push_back(step);
    add_to_lists(step);
  }
}

void MovingSteps::add_before(StepId other, Step step) {
  const auto index = static_cast<std::size_t>(all(order_.front(), other).size() - 1);
  program_.steps.push_back(std::move(step));
  add_to_lists(at_.push_back(label_before(index)));
}

void MovingSteps::move_behind(StepId other, StepId step) {
  const auto each = [&](BufferId b) { remove(naming_[root_of(program_, b)], step); };
  for_each_buffer(program_.steps[step.index], each);
  remove(order_, step);
  at_[step] = label_before(all(order_.front(), other).size());
  add_to_lists(step);
}

void MovingSteps::changed(StepId step, std::initializer_list<BufferId> buffers) {
  for (BufferId buffer : buffers) {
    const BufferId root = root_of(program_, buffer);
    bool names = false;
    for_each_buffer(program_.steps[step.index], [&](BufferId b) { names |= root_of(program_, b) == root; });
    names ? add(naming_[root], step) : remove(naming_[root], step);
  }
}

void MovingSteps::finish() {
  std::vector<Step> steps;
  steps.reserve(order_.size());
  for (StepId step : order_) steps.push_back(std::move(program_.steps[step.index]));
  program_.steps = std::move(steps);
}

MovingSteps::Steps MovingSteps::between(const std::vector<StepId>& list, StepId first, StepId last) const {
  const auto label = [&](StepId step) { return at_[step]; };
  const auto begin = std::ranges::lower_bound(list, at_[first], {}, label);
  return {begin, std::ranges::upper_bound(begin, list.end(), at_[last], {}, label)};
}

void MovingSteps::add(std::vector<StepId>& list, StepId step) const {
  if (list.empty() || at_[list.back()] < at_[step]) return list.push_back(step);
  const auto place = std::ranges::lower_bound(list, at_[step], {}, [&](StepId s) { return at_[s]; });
  if (*place != step) list.insert(place, step);
}

void MovingSteps::remove(std::vector<StepId>& list, StepId step) const {
  const auto place = std::ranges::lower_bound(list, at_[step], {}, [&](StepId s) { return at_[s]; });
  if (place != list.end() && *place == step) list.erase(place);
}

/// Adds it to the lists that change, to some more than once.
void MovingSteps::add_to_lists(StepId step) {
  add(order_, step);
  for_each_buffer(program_.steps[step.index], [&](BufferId b) { add(naming_[root_of(program_, b)], step); });
}

/// Returns a label for what will stand before the step at this index of the order.
int64_t MovingSteps::label_before(std::size_t index) {
  const int64_t first = index == 0 ? at_[order_.front()] - 2 * kGap : at_[order_[index - 1]];
  const int64_t end = index == order_.size() ? first + 2 * kGap : at_[order_[index]];
  if (end - first > 1) return first + (end - first) / 2;
  for (std::size_t i = 0; i < order_.size(); ++i) at_[order_[i]] = kGap * static_cast<int64_t>(i);
  return label_before(index);
}

}  // namespace inlay::transform
