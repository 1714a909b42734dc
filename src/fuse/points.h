#pragma once
// The points at which values are asked for, each access map once.
#include <deque>
#include <unordered_map>

#include "kernel/access_map.h"

namespace inlay::fuse {

using Point = const kernel::AccessMap*;  // one of Points: equal maps are the same address

/// Most questions of a program are asked at a few points, and many are asked again while it is decided what is fused:
/// so a map is kept once, and equal maps are the same address.
class Points {
 public:
  /// The map that equals `at`; it stays where it is.
  Point find_or_add(const kernel::AccessMap& at);

 private:
  std::unordered_multimap<std::size_t, Point> by_hash_;
  std::deque<kernel::AccessMap> points_;
};

}  // namespace inlay::fuse
