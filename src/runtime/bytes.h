#pragma once
// Which bytes an array of the caller has, for every door: do two arrays share some, or two elements of one?
#include <algorithm>
#include <cstdint>
#include <span>

namespace inlay::runtime {

/// The bytes in [begin, end).
struct Bytes {
  const char *begin = nullptr, *end = nullptr;
  bool meet(const Bytes& other) const { return std::max(begin, other.begin) < std::min(end, other.end); }
};

/// Where the elements of an array lie; strides are in bytes, by axis.
struct Elements {
  const void* data = nullptr;
  std::span<const int64_t> dims, strides;
  int64_t element_bytes = 8;

  bool is_empty() const { return std::ranges::find(dims, 0) != dims.end(); }

  /// Returns everything from the first byte to the last.
  Bytes bytes() const {
    const char *first = static_cast<const char*>(data), *last = first;
    if (is_empty()) return {first, first};
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const int64_t reach = (dims[axis] - 1) * strides[axis];
      (reach < 0 ? first : last) += reach;
    }
    return {first, last + element_bytes};
  }

  /// Does each element lie at bytes of its own? No answer is needed for arrays that nobody makes by slicing,
  /// transposing and reversing: so each stride has to reach over all that the smaller ones do.
  bool are_apart() const;
};

}  // namespace inlay::runtime
