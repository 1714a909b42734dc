#pragma once
// The quick way to fill an arena from below: in the lowest valley, the first item of an order that fits into it.
//
// The skyline is the height to which each section is filled. Its lowest stretch is a valley; where no remaining item
// lives within the valley, it rises to the lower of its two banks. This places each item as low as the items before
// allow, again and again the one that comes lowest, and is nearly linear: every step places an item or joins two
// stretches.
#include <cstdint>
#include <span>
#include <vector>

#include "memory/search/order.h"
#include "memory/search/problem.h"

namespace inlay::memory::search {

/// Items in a binary tree over their first and last sections: the first of an order that lives within a range.
class ItemTree {
 public:
  static constexpr int32_t kNone = INT32_MAX;

  explicit ItemTree(const Problem& problem);
  /// All items remain, with these ranks.
  void reset(std::span<const Ranked> order);
  void remove(int32_t item);
  /// The minimum rank of what remains and lives within [begin, end), or kNone.
  int32_t first_within(int32_t begin, int32_t end) const;

 private:
  struct Box {
    int32_t minimum_first = INT32_MAX, most_first = -1, minimum_last = INT32_MAX, most_last = -1;
  };
  void arrange(const Problem& problem, std::span<int32_t> items, std::size_t leaf, std::size_t num_leaves,
               bool by_first);
  void search(std::size_t node, int32_t begin, int32_t end, int32_t& best) const;

  std::size_t num_leaves_ = 1;
  std::vector<Box> boxes_;           // by node: 1 is the root, 2k and 2k + 1 are below k
  std::vector<int32_t> ranks_;       // by node, the least of what remains
  std::vector<std::size_t> leaves_;  // by item
};

class Skyline {
 public:
  /// Of a problem without pins.
  explicit Skyline(const Problem& problem);

  /// Offsets in units, by item.
  std::vector<int64_t> place(std::span<const Ranked> order);

 private:
  struct Stretch {
    int64_t height = 0;
    int32_t begin = 0, end = 0;
  };
  static bool is_higher(const Stretch& a, const Stretch& b);
  void add(Stretch stretch);
  void store(const Stretch& stretch);
  void raise(Stretch valley);
  void fill(const Stretch& valley, const Item& item, int64_t top);
  Stretch lowest();

  const Problem& problem_;
  ItemTree tree_;
  // A stretch is known by the section in which it begins; by its last one it is found from behind.
  std::vector<Stretch> by_begin_;
  std::vector<int32_t> begin_by_last_;
  std::vector<Stretch> heap_;  // the lowest on top; some are out of date
};

}  // namespace inlay::memory::search
