#pragma once
// A complete search for a plan within a capacity.
//
// Any plan can be pushed down until each item lies at 0 or rests on another: it is *canonical* then, and only canonical
// plans are tried. The search keeps, for each item that is not placed, its `floor`: the lowest offset above all placed
// items that it meets. In a canonical plan the lowest of the remaining items lies at its floor. So a node takes the
// item with the lowest floor (the order decides ties) and branches: it lies there, or it does not. In the second branch
// the item is *banned* from its floor: something that meets it must come below it and lift it, and the lowest top of
// what could do so becomes its `bound`. No plan is seen twice, whatever the order is.
//
// A node is given up where
//  - a section has no room: the lowest bound in it and all units that remain to be placed there exceed the capacity,
//  - nothing can lift a banned item, or it would end above the capacity,
//  - a remaining item would fit below all that can still be placed: such plans are not canonical.
//
// Where no remaining item crosses from one section to the next, the two sides are solved one after the other, each with
// an order of its own; where one of them has no solution, no other way of solving its neighbour is tried.
#include <cstdint>
#include <span>
#include <vector>

#include "memory/search/order.h"
#include "memory/search/problem.h"

namespace inlay::memory::search {

enum class Outcome : uint8_t { found, impossible, unfinished };

/// A search keeps a bit for each item in each section.
inline constexpr std::size_t kMostItemsOfSearch = 16384;

class DepthFirst {
 public:
  DepthFirst(const Problem& problem, const Order& order, int64_t capacity_bytes);

  /// Goes on until the search has ended or this many more placements were tried. May be called again.
  Outcome advance(int64_t placements);

  /// By item, in units; of a search that has found a plan.
  std::span<const int64_t> offsets() const { return floor_; }
  int64_t placements() const { return placements_; }

 private:
  static constexpr int32_t kNone = -1;

  /// Items that meet nothing outside: entries [begin, begin + count) of the pool remain to be placed.
  struct Part {
    int32_t begin = 0, count = 0;
    int32_t first = 0, last = 0;  // its sections
    int32_t next = kNone;         // the part to be solved after it
    int32_t decided_by = kNone;   // the node whose choice it depends on
    int32_t ranked_count = 0;     // how many there were when they were ranked
  };
  struct Node {
    int32_t part = 0;
    int32_t decided_by = kNone;
    int32_t chosen = kNone;
    std::size_t bans_from = 0, choice_from = 0;  // in the trail
    std::size_t num_parts = 0, pool_size = 0;
  };
  struct Change {
    int32_t item = 0;
    int64_t floor = 0, bound = 0;
  };

  void find_members();
  void find_section_room();
  void find_twins();
  bool lift_to_pins();

  bool open_node();
  bool backtrack();
  int32_t choose(const Part& part);
  bool place(Node& node);
  void undo_choice(Node& node);
  bool ban(int32_t item);
  int64_t lowest_lift(int32_t item);
  void split(int32_t node);
  void add_part(std::span<const Ranked> items, int32_t ranked_count, int32_t node);
  void set_positions(int32_t begin, int32_t count);

  template <class Function>
  void for_neighbours(int32_t item, Function function);
  bool lift(int32_t item, int64_t floor, int64_t bound);
  void undo_to(std::size_t size);
  bool have_room(int32_t first, int32_t last);
  bool find_witness(int32_t section);
  bool is_room_for(int32_t item, int32_t section) const;
  int64_t above_pins(int32_t item, int64_t offset) const;

  bool is_placed(int32_t item) const { return !(remaining_[word(item)] >> (item & 63) & 1); }
  static std::size_t word(int32_t item) { return static_cast<std::size_t>(item) >> 6; }
  const Item& at(int32_t item) const { return problem_.items[static_cast<std::size_t>(item)]; }

  const Problem& problem_;
  const Order order_;

  // By item.
  std::vector<int64_t> floor_, bound_, highest_;
  std::vector<int32_t> twins_, next_twin_;     // items that are alike: the first of them; a ring
  std::vector<int32_t> position_;              // in the pool
  std::vector<std::vector<int32_t>> pins_of_;  // that it meets, by offset; empty where nothing is pinned
  std::vector<uint64_t> remaining_;            // a bit for each

  // By section.
  std::size_t num_words_ = 0;
  std::vector<uint64_t> members_;     // num_words_ words of bits for each section
  std::vector<int32_t> first_word_;   // of its members
  std::vector<int32_t> first_item_;   // the first that begins there or later; one more at the end
  std::vector<int64_t> room_, load_;  // the capacity; units that remain to be placed
  std::vector<int32_t> crossing_;     // remaining items that live in it and in the section before
  std::vector<int32_t> witness_;      // an item that showed last that there is room
  std::vector<std::vector<int32_t>> pins_in_;

  std::vector<Ranked> pool_;
  std::vector<Part> parts_;
  std::vector<Node> nodes_;
  std::vector<Change> trail_;
  std::vector<int32_t> component_;  // scratch of `split`
  int32_t agenda_ = kNone;
  int64_t placements_ = 0;
  enum class State : uint8_t { open, choose, ended } state_ = State::open;
  Outcome outcome_ = Outcome::unfinished;
};

}  // namespace inlay::memory::search
