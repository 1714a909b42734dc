#pragma once
// The context of a pass: its options, and what it reports besides its result.
//
// Counts say what it did, refusals say why it did not; `explain` shows both. The budget is for bisecting: with N steps
// left, exactly the first N rewrites happen.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/str.h"

namespace inlay {

/// How close the result of a rewrite is to the original result.
enum class Close : uint8_t {
  bitwise,   // the same bits (NaN payloads and signs aside)
  rounding,  // within a few units in the last place
  better,    // at least as accurate, and finite or exact where the original loses its digits
};

struct PassOptions {
  Close farthest = Close::better;           // bitwise: no rule that changes a bit
  int64_t max_short_side = 16;              // a matmul whose summed or result side is at most this becomes a sum
  bool moments_in_one_pass = true;          // a sum of (x - mean)^2 is folded along with the mean
  bool single_precision = false;            // f64 that is rounded to f32 in the end is computed in f32
  std::vector<std::string> disabled_rules;  // by name
  int64_t max_rewrites = std::numeric_limits<int64_t>::max();
};

class PassContext {
 public:
  explicit PassContext(PassOptions options = {}) : options_(std::move(options)), left_(options_.max_rewrites) {}

  const PassOptions& options() const { return options_; }

  /// Adds to the counter `what`.
  void count(const std::string& what, int64_t amount = 1) {
    for (auto& [name, total] : counts_) {
      if (name == what) {
        total += amount;
        return;
      }
    }
    if (amount != 0) counts_.emplace_back(what, amount);
  }
  int64_t counted(const std::string& what) const {
    for (const auto& [name, total] : counts_) {
      if (name == what) return total;
    }
    return 0;
  }
  const std::vector<std::pair<std::string, int64_t>>& counts() const { return counts_; }

  /// refuse("%12 stays a matmul: its summed dim is ", n)
  template <class... Parts>
  void refuse(const Parts&... parts) {
    refusals_.push_back(str(parts...));
  }
  const std::vector<std::string>& refusals() const { return refusals_; }

  /// May the rule of this name rewrite?
  bool allows(const char* rule, Close close) const {
    if (close > options_.farthest || left_ == 0) return false;
    return std::ranges::find(options_.disabled_rules, rule) == options_.disabled_rules.end();
  }
  /// Records that the rule has rewritten: counts it and takes one step from the budget.
  void fired(const char* rule) {
    --left_;
    last_ = rule;
    count(rule);
  }
  /// Does the rule rewrite? Asked last before it builds: if so, the rewrite is recorded.
  bool fires(const char* rule, Close close) {
    if (!allows(rule, close)) return false;
    fired(rule);
    return true;
  }
  int64_t rewrites_left() const { return left_; }
  /// The rule that fired last; empty: none did.
  const std::string& last_rewrite() const { return last_; }

 private:
  PassOptions options_;
  int64_t left_;
  std::vector<std::pair<std::string, int64_t>> counts_;
  std::vector<std::string> refusals_;
  std::string last_;
};

}  // namespace inlay
