#include "oracle/reference/moves.h"

#include <algorithm>

#include "oracle/reference/elementwise.h"
#include "oracle/reference/region.h"

namespace inlay::reference {
namespace {

/// A new array; element_at(point) says which element of x stands there.
template <class ElementAt>
Tensor rearrange(const Tensor& x, std::vector<int64_t> dims, ElementAt element_at) {
  Tensor out = Tensor::zeros(x.dtype, std::move(dims));
  int64_t next = 0;
  for_each_point(out.dims, [&](std::span<const int64_t> point) {
    combine_element(Combine::set, out, next++, x, element_at(point));
  });
  return out;
}

int64_t linear(std::span<const int64_t> dims, std::span<const int64_t> point) {
  int64_t element = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) element = element * dims[axis] + point[axis];
  return element;
}

}  // namespace

Tensor broadcast(const Tensor& x, std::vector<int64_t> dims) {
  if (x.dims == dims) return x;
  return rearrange(x, std::move(dims), [&](std::span<const int64_t> point) { return broadcast_offset(x.dims, point); });
}

Tensor transpose(const Tensor& x, std::span<const int> axes, std::vector<int64_t> dims) {
  return rearrange(x, std::move(dims), [&](std::span<const int64_t> point) {
    std::vector<int64_t> from(point.size());
    for (std::size_t axis = 0; axis < point.size(); ++axis) from[axes[axis]] = point[axis];
    return linear(x.dims, from);
  });
}

Tensor flip(const Tensor& x, std::span<const int> axes) {
  return rearrange(x, x.dims, [&](std::span<const int64_t> point) {
    std::vector<int64_t> from(point.begin(), point.end());
    for (int axis : axes) from[axis] = x.dims[axis] - 1 - point[axis];
    return linear(x.dims, from);
  });
}

Tensor diagonal(const Tensor& x, std::span<const int> axes, std::vector<int64_t> dims) {
  return rearrange(x, std::move(dims), [&](std::span<const int64_t> point) {
    std::vector<int64_t> from;
    std::size_t next = 0;
    for (int axis = 0; axis < x.rank(); ++axis) {
      from.push_back(std::ranges::binary_search(axes, axis) ? point.back() : point[next++]);
    }
    return linear(x.dims, from);
  });
}

Tensor concat(const std::vector<Tensor>& parts, int axis, std::vector<int64_t> dims) {
  Tensor out = Tensor::zeros(parts[0].dtype, std::move(dims));
  int64_t start = 0;
  for (const Tensor& part : parts) {
    int64_t next = 0;
    for_each_point(part.dims, [&](std::span<const int64_t> point) {
      std::vector<int64_t> to(point.begin(), point.end());
      to[axis] += start;
      combine_element(Combine::set, out, linear(out.dims, to), part, next++);
    });
    start += part.dims[axis];
  }
  return out;
}

Tensor compress(const Tensor& x, const Tensor& mask, int64_t count) {
  Tensor out = Tensor::zeros(x.dtype, {count});
  int64_t next = 0;
  for (int64_t i = 0; i < mask.num_elements(); ++i) {
    if (mask.get<bool>(i)) combine_element(Combine::set, out, next++, x, i);
  }
  return out;
}

}  // namespace inlay::reference
