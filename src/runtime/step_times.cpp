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
    rows_[i].threads = std::max(rows_[i].threads, rows[i].threads);
    rows_[i].busy_seconds += rows[i].busy_seconds;
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
  if (step_ < rows_.size()) {
    const double seconds = std::chrono::duration<double>(now - since_).count();
    rows_[step_].seconds += seconds;
    rows_[step_].busy_seconds += seconds;
  }
  step_ = static_cast<std::size_t>(step);
  if (step_ < rows_.size()) ++rows_[step_].passes;
  since_ = now;
}

void StepClock::add_blocks(int threads, double busy_seconds, double seconds) {
  if (step_ >= rows_.size()) return;
  rows_[step_].threads = std::max(rows_[step_].threads, threads);
  rows_[step_].busy_seconds += busy_seconds - seconds;  // in place of the calling thread's time alone
}

StepClock* StepClock::of_this_thread() { return current; }

void inlay_step_begins(int64_t step) noexcept {
  if (current) current->begin(step);
}

}  // namespace inlay::runtime
