#include "runtime/step_times.h"

#include <algorithm>

#include "support/fork_gate.h"

namespace inlay::runtime {
namespace {

thread_local StepClock* current = nullptr;

}  // namespace

std::vector<StepTimes::Row> StepTimes::rows() const {
  const ForkGate::Inside inside;
  const std::lock_guard lock(mutex_);
  return rows_;
}

void StepTimes::add(const std::vector<Row>& rows) {
  const ForkGate::Inside inside;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows[i].passes == 0) continue;
    const bool is_first = rows_[i].passes == 0;
    rows_[i].least_seconds = is_first ? rows[i].seconds : std::min(rows_[i].least_seconds, rows[i].seconds);
    rows_[i].seconds += rows[i].seconds;
    rows_[i].passes += rows[i].passes;
  }
}

void StepTimes::clear() {
  const ForkGate::Inside inside;
  const std::lock_guard lock(mutex_);
  rows_.assign(rows_.size(), {});
  sizes_.clear();
}

std::vector<int64_t> StepTimes::sizes() const {
  const ForkGate::Inside inside;
  const std::lock_guard lock(mutex_);
  return sizes_;
}

void StepTimes::set_sizes(std::span<const int64_t> sizes) {
  const ForkGate::Inside inside;
  const std::lock_guard lock(mutex_);
  sizes_.assign(sizes.begin(), sizes.end());
}

StepClock::StepClock(StepTimes& times)
    : times_(times), outer_(current), rows_(times.rows().size()), step_(rows_.size()), since_() {
  current = this;
}

StepClock::~StepClock() {
  begin(static_cast<int64_t>(rows_.size()));
  current = outer_;
  times_.add(rows_);
}

void StepClock::begin(int64_t step) {
  const Time now = std::chrono::steady_clock::now();
  if (step_ < rows_.size()) rows_[step_].seconds += std::chrono::duration<double>(now - since_).count();
  step_ = static_cast<std::size_t>(step);
  if (step_ < rows_.size()) ++rows_[step_].passes;
  since_ = now;
}

void inlay_step_begins(int64_t step) noexcept {
  if (current) current->begin(step);
}

}  // namespace inlay::runtime
