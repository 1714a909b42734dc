#pragma once
// How long each step of a program takes, for those that were compiled to tell (Options::time_steps).
//
// The code says when a step begins. Where that goes is known by the thread: a StepClock stands around a call.
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace inlay::runtime {

/// Sums over all calls. Safe from many threads.
class StepTimes {
 public:
  struct Row {
    double seconds = 0;
    int64_t passes = 0;  // how often the step ran: in a loop more than once for each call
  };

  explicit StepTimes(std::size_t num_steps) : rows_(num_steps) {}

  std::vector<Row> rows() const;
  void add(const std::vector<Row>& rows);

 private:
  mutable std::mutex mutex_;
  std::vector<Row> rows_;
};

/// For as long as it lives, the steps that this thread begins are those of one call.
class StepClock {
 public:
  explicit StepClock(StepTimes& times);
  ~StepClock();
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  void begin(int64_t step);

 private:
  using Time = std::chrono::steady_clock::time_point;

  StepTimes& times_;
  StepClock* const outer_;  // of the call whose host function makes this one
  std::vector<StepTimes::Row> rows_;
  std::size_t step_;  // that runs; the number of steps: none
  Time since_;
};

/// What the code calls.
extern "C" void inlay_step_begins(int64_t step) noexcept;

}  // namespace inlay::runtime
