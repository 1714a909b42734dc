#pragma once
// A planning problem as the searches see it: what lives when, in whole units, with everything else left out.
//
// Time is cut into *sections*: the largest sets of items that live together. A tick whose set lies within that of
// another tick adds no constraint and is dropped, so two items meet if and only if they have a section in common.
// Bytes become *units*, the largest number of bytes that divides every size (rounded up to where the next item may
// begin), every pinned offset, and every alignment that does not divide it: all offsets worth trying are multiples of
// it.
#include <cstdint>
#include <span>
#include <vector>

#include "memory/layout.h"

namespace inlay::memory::search {

struct Item {
  uint32_t storage = 0;         // its index in what the problem was made of
  int32_t first = 0, last = 0;  // lives in the sections [first, last)
  int64_t size = 0;             // units
  int64_t alignment = 1;        // units
  int64_t size_bytes = 0;
  int64_t duration = 0;  // ticks
};

/// What lies at an offset of its own already.
struct Pin {
  int32_t first = 0, last = 0;
  int64_t begin = 0, end = 0;  // units
};

struct Problem {
  int64_t unit_bytes = 1;
  int32_t num_sections = 0;
  std::vector<Item> items;    // by first section; equal problems in another order of storages give the same items
  std::vector<Pin> pins;      // by offset
  int64_t minimum_bytes = 0;  // what pinned storages and those that never live need, whatever is planned

  /// By item: the highest offset, in units, at which it ends within the capacity; below 0 where none does.
  std::vector<int64_t> highest_offsets(int64_t capacity_bytes) const;
  /// The offsets (units, by item) for all `storages` that the problem was made of.
  Layout layout(std::span<const int64_t> offsets, std::span<const Storage> storages) const;
  int64_t arena_bytes(std::span<const int64_t> offsets) const;
};

/// Throws Error(size-overflow) where the sizes together do not fit in 62 bits.
Problem make_problem(std::span<const Storage> storages);

/// `offset` rounded up to a multiple.
inline int64_t aligned(int64_t offset, int64_t alignment) {
  return alignment == 1 ? offset : (offset + alignment - 1) / alignment * alignment;
}

}  // namespace inlay::memory::search
