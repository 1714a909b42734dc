#pragma once
// In which order items are tried: by descending keys, the first key first.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "memory/search/problem.h"

namespace inlay::memory::search {

/// What makes an item urgent, as letters of an order: `duration`, `area` (duration times size), `crowd` (the most units
/// that live in one of its sections) and `size`.
enum class Key : uint8_t { duration, area, crowd, size };
struct Order {
  std::array<Key, 3> keys;
  uint32_t seed = 0;  // other than 0: each key is off by up to a fifth, so that a search that is stuck can begin anew
};

// No one order is best; these four fail on different problems.
inline constexpr Order kOrders[] = {
    {{Key::duration, Key::area, Key::crowd}},
    {{Key::crowd, Key::area, Key::duration}},
    {{Key::crowd, Key::size, Key::area}},
    {{Key::crowd, Key::duration, Key::area}},
};

/// Units that live in each section.
std::vector<int64_t> section_loads(const Problem& problem);

/// The maximum of a range of a row of numbers, each answer in constant time.
class RangeMax {
 public:
  /// Of values[begin, end).
  void assign(std::span<const int64_t> values);
  int64_t operator()(std::size_t begin, std::size_t end) const;

 private:
  std::vector<std::vector<int64_t>> levels_;  // levels_[k][i]: of 2^k values from i
};

/// An item and its place in an order; a smaller rank is tried first.
struct Ranked {
  int32_t item = 0;
  int32_t rank = 0;
};

/// Ranks `items` by their keys, crowds counted by `loads` of the sections from `section_begin` on.
void rank(std::span<Ranked> items, const Problem& problem, const Order& order, std::span<const int64_t> loads,
          int32_t section_begin);

/// All items of a problem, by rank.
std::vector<Ranked> ranked(const Problem& problem, const Order& order);

}  // namespace inlay::memory::search
