#pragma once
// The order of steps in which the fewest bytes live at a time, searched for: units and bytes, no program.
#include <cstdint>
#include <vector>

namespace inlay::memory::search {

/// Units that all run once, each behind those that it waits for, and what they keep in memory.
struct OrderProblem {
  struct InPlace {
    int operand = 0, result = 0;  // storages
    bool operator==(const InPlace&) const = default;
  };
  struct Unit {
    std::vector<int> after;         // units
    std::vector<int> storages;      // that it touches, each once
    std::vector<InPlace> in_place;  // where the operand dies in this unit, the result may take its bytes
  };
  struct Storage {
    double bytes = 0;                      // for sizes that are not known some stand in: sums must not overflow
    bool is_there = false, stays = false;  // before the first unit, after the last
  };
  std::vector<Unit> units;  // in an order in which they can run
  std::vector<Storage> storages;
};

/// The most that lives at a time if the units run in this order.
double peak_bytes(const OrderProblem& problem, const std::vector<int>& order);

/// What no order can be below: the most that one unit needs.
double floor_bytes(const OrderProblem& problem);

/// An order with a peak below `below_bytes`, or none. A beam search; where one unit after another can run, it prefers
/// the given order. Peaks up to `enough_bytes` are all the same to it. Its work is bounded by a number of steps, not by
/// a clock.
std::vector<int> find_order(const OrderProblem& problem, double below_bytes, double enough_bytes);

}  // namespace inlay::memory::search
