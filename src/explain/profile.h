#pragma once
// What the steps of a program take, as data and as a table: time, bytes, and how near to the memory's bandwidth they
// come. compiler/profile.h makes it of what was measured.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/summary.h"

namespace inlay::explain {

/// A number for one call, all passes of the step together; or text over sizes, for one pass, where it depends on what a
/// loop finds anew in each pass.
using Amount = std::variant<int64_t, std::string>;

struct ProfileRow {
  kernel::StepId step;
  kernel::StepSummary summary;
  std::string note;                  // what its formula does not say: "host call, runs as Python"; may be empty
  std::vector<std::string> origins;  // as `Origins` has them
  std::string lines;                 // "model.py:7, 12"; may be empty
  double seconds = 0;                // of one call, the mean
  double least_seconds = 0;          // of those calls that ran it
  double passes = 0;                 // how often a call runs it: in a loop once per pass
  Amount read_bytes, written_bytes;
  std::optional<Amount> flops;  // kernel/flops.h; nothing: not known
  int threads = 1;              // the most that it was given at once, the calling one among them
  double balance = 1;           // the share of its time in which these were at work, the mean of them

  /// Bytes over seconds, in GB/s (10^9 bytes); nothing where no bytes are known or moved.
  std::optional<double> bandwidth() const;
  /// Operations over seconds, in GFlop/s; nothing where none are known.
  std::optional<double> flop_rate() const;
};

/// "3200 bytes", "15 MiB": whole up to 10 KiB, where sizes of values are still told apart by their bytes.
std::string short_bytes_text(int64_t bytes);

/// "1.38", "11.6", "128": numbers that are measured, to three digits.
std::string three_digits(double number);
/// "1.38 ms", "34 ns"
std::string time_text(double seconds);

/// "1.93 of 2" at work
std::string threads_text(int threads, double balance);

struct Profile {
  std::string name;
  std::vector<ProfileRow> rows;  // in the order of running
  int64_t calls = 0;
  double total = 0;                                    // seconds of a call, the mean
  double least = 0;                                    // of the quickest call
  double bandwidth = 0;                                // GB/s of this machine's memory, of one thread
  std::vector<std::pair<std::string, int64_t>> sizes;  // of the program, by name: those that all of a call has

  /// Of `total` the seconds outside of all steps.
  double outside() const;
};

/// What stands in the table, in lines of at most `width` characters: the step that takes most time first, and of more
/// than 30 the rest as a sum.
std::string table(const Profile& profile, std::size_t width = 120);

}  // namespace inlay::explain
