#include "runtime/bytes.h"

#include <cstdlib>
#include <utility>
#include <vector>

namespace inlay::runtime {

bool Elements::are_apart() const {
  if (is_empty()) return true;
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, length
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] > 1) axes.emplace_back(std::abs(strides[axis]), dims[axis]);
  }
  std::ranges::sort(axes);
  int64_t reach = element_bytes;
  for (const auto& [stride, length] : axes) {
    if (stride < reach) return false;
    reach += stride * (length - 1);
  }
  return true;
}

}  // namespace inlay::runtime
