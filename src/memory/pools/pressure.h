#pragma once
// By how much what lives together is more than a pool has.
#include "memory/pools/problem.h"

namespace inlay::memory::pools {

class Pressure {
 public:
  /// Of a pool with a limit. `storages`: all that may be added; none of them is yet.
  Pressure(std::span<const Storage> storages, int64_t capacity_bytes);

  void add(const Storage& storage) { change(live_bytes_, storage, storage.size_bytes); }
  /// It cannot be removed: where such ones alone are too much, there is nothing to be done.
  void add_fixed(const Storage& storage);
  void remove(const Storage& storage) { change(live_bytes_, storage, -storage.size_bytes); }

  /// Is it nowhere more than the capacity, where something can be done? Alignment is not looked at, nor whether there
  /// is a layout.
  bool is_relieved();

  /// What goes with the storage of what is too much, by the times at which it is.
  double relief(const Storage& storage);

 private:
  std::size_t at(int32_t time) const;
  void change(std::vector<int64_t>& of, const Storage& storage, int64_t bytes);
  void sum();

  int64_t capacity_bytes_;
  std::vector<int32_t> times_;
  std::vector<int64_t> live_bytes_, fixed_bytes_;  // from this time to the next
  std::vector<double> full_times_, excess_;        // of the times before this one: how many are too full, by how much
  bool is_summed_ = false;
};

}  // namespace inlay::memory::pools
