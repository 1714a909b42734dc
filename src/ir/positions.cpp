#include "ir/positions.h"

#include <algorithm>

namespace inlay {

int64_t num_elements(std::span<const int64_t> dims) {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  int64_t count = 1;
  for (int64_t dim : dims) count = exact::multiply(count, dim).value_or(std::numeric_limits<int64_t>::max());
  return count;
}

std::optional<std::vector<int64_t>> constant_dims(std::span<const Dim> dims, int64_t most) {
  if (!num_elements_up_to(dims, most)) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& dim : dims) out.push_back(dim.constant());
  return out;
}

std::size_t broadcast_index(std::span<const int64_t> dims, const Position& at) {
  std::size_t index = 0;
  const std::size_t skipped = at.size() - dims.size();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    index = index * static_cast<std::size_t>(dims[axis]);
    if (dims[axis] != 1) index += static_cast<std::size_t>(at[skipped + axis]);
  }
  return index;
}

}  // namespace inlay
