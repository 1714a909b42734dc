#pragma once
// Measures how long each step of a program takes, if it was compiled for that (Options::time_steps).
//
// The code reports when a step begins, to the StepClock that its thread has around the call.
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace inlay::runtime {

/// Sums over all calls. Safe from many threads.
class StepTimes {
 public:
  struct Row {
    double seconds = 0;
    double least_seconds = 0;  // of those calls that ran it, the least that one spent in it
    int64_t passes = 0;        // how often the step ran: in a loop once per iteration
    int threads = 1;           // the most that it was given at once, the calling one among them
    double busy_seconds = 0;   // of all of these, at work: `seconds`, where there is one
  };

  explicit StepTimes(std::size_t num_steps) : rows_(num_steps) {}

  std::vector<Row> rows() const;
  /// Adds those of one call.
  void add(const std::vector<Row>& rows);
  /// Begins anew, as if there had been no call.
  void clear();

  /// Of the last call that said them, by symbol; -1: not known. Empty: no call has.
  std::vector<int64_t> sizes() const;
  void set_sizes(std::span<const int64_t> sizes);

 private:
  mutable std::mutex mutex_;
  std::vector<Row> rows_;
  std::vector<int64_t> sizes_;
};

/// While this lives, the steps that this thread begins are those of one call.
class StepClock {
 public:
  explicit StepClock(StepTimes& times);
  ~StepClock();
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  void begin(int64_t step);
  /// The step that runs gave blocks to so many threads, which worked on them so long, all together, in `seconds`.
  void add_blocks(int threads, double busy_seconds, double seconds);

  /// Null: nobody measures the call that this thread makes.
  static StepClock* of_this_thread();

 private:
  using Time = std::chrono::steady_clock::time_point;

  StepTimes& times_;
  StepClock* const outer_;  // of the call whose host function makes this one
  std::vector<StepTimes::Row> rows_;
  std::size_t step_;  // the one that runs; the number of steps: none
  Time since_;
};

/// The code calls this.
extern "C" void inlay_step_begins(int64_t step) noexcept;

}  // namespace inlay::runtime
