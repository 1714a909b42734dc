#pragma once
// The bytes that live at each tick while storages come, go and live longer, of which the maximum is asked.
#include <algorithm>
#include <bit>
#include <vector>

#include "memory/layout.h"

namespace inlay::memory {

/// A segment tree: a change takes a time logarithmic in the number of ticks, however long what changes lives, and the
/// maximum is at the root. In double, so that sums cannot overflow.
class Load {
 public:
  Load() = default;
  /// `bytes`: by tick, none less than 0.
  explicit Load(const std::vector<double>& bytes)
      : num_ticks_(std::bit_ceil(bytes.size())), added_(num_ticks_, 0), most_(2 * num_ticks_, 0) {
    std::ranges::copy(bytes, most_.begin() + static_cast<std::ptrdiff_t>(num_ticks_));
    for (std::size_t node = num_ticks_; --node > 0;) most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
  }

  double max() const { return most_[1]; }

  void add(const Lifetime& life, double bytes) {
    if (life.begin >= life.end || bytes == 0) return;
    const std::size_t first = num_ticks_ + static_cast<std::size_t>(life.begin);
    const std::size_t end = num_ticks_ + static_cast<std::size_t>(life.end);
    for (std::size_t left = first, right = end; left < right; left /= 2, right /= 2) {
      if (left % 2 == 1) add_below(left++, bytes);
      if (right % 2 == 1) add_below(--right, bytes);
    }
    for (std::size_t left = first / 2, right = (end - 1) / 2; left > 0; left /= 2, right /= 2) {
      renew(left);
      if (right != left) renew(right);
    }
  }

 private:
  void add_below(std::size_t node, double bytes) {
    most_[node] += bytes;
    if (node < num_ticks_) added_[node] += bytes;
  }

  void renew(std::size_t node) { most_[node] = added_[node] + std::max(most_[2 * node], most_[2 * node + 1]); }

  // Node i has the children 2i and 2i + 1; the ticks are the last nodes.
  std::size_t num_ticks_ = 0;  // a power of two: all are as far from the root
  std::vector<double> added_;  // to all ticks below an inner node
  std::vector<double> most_;   // of the ticks below a node, without what is added above it
};

}  // namespace inlay::memory
