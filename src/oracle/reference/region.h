#pragma once
// Which elements of an array `x[...]` names: for slices, gathers, updates and scatters alike.
#include <span>
#include <vector>

#include "ir/graph.h"
#include "oracle/reference/tensor.h"

namespace inlay::reference {

/// Calls body(coordinates) for each point of `dims`, row-major; no point where a dim is 0, one point where there is
/// none.
template <class Body>
void for_each_point(std::span<const int64_t> dims, Body body) {
  if (product(dims) == 0) return;
  std::vector<int64_t> at(dims.size(), 0);
  for (;;) {
    body(std::span<const int64_t>(at));
    std::size_t axis = dims.size();
    while (axis > 0 && ++at[axis - 1] == dims[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// The linear element that a point of a wider shape reads in an array of `dims`: aligned at the last axis, a dim of 1
/// stays.
int64_t broadcast_offset(std::span<const int64_t> dims, std::span<const int64_t> point);

struct Region {
  std::vector<int64_t> dims;      // of x[...]
  std::vector<int64_t> elements;  // the linear element of x at each of its points, row-major
};

/// `index` has one item for each axis; `arrays` are its index arrays, in order; `symbols` the sizes. An index out of
/// bounds is an error that begins with `op`: "gather: index 7 is out of bounds for axis 0 with size 5".
Region region_of(std::span<const int64_t> dims, std::span<const IndexItem> index, std::span<const Tensor> arrays,
                 std::span<const int64_t> symbols, const std::string& op);

}  // namespace inlay::reference
