#include "oracle/reference/region.h"

#include "oracle/reference/elementwise.h"

namespace inlay::reference {
namespace {

/// Shape that all arrays stretch to.
std::vector<int64_t> joint_dims(std::span<const Tensor> arrays) {
  std::vector<int64_t> joint;
  for (const Tensor& array : arrays) {
    while (joint.size() < array.dims.size()) joint.insert(joint.begin(), 1);
    for (std::size_t i = 0; i < array.dims.size(); ++i) {
      int64_t& dim = joint[joint.size() - array.dims.size() + i];
      if (array.dims[i] != 1) dim = array.dims[i];
    }
  }
  return joint;
}

/// NumPy puts the arrays' axes where the arrays stand, or first when a range stands between two of them. A position
/// beside arrays counts as one.
bool ranges_between_arrays(std::span<const IndexItem> index) {
  bool seen_array = false, seen_range_after = false;
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::Kind::range) {
      seen_range_after = seen_array;
      continue;
    }
    if (seen_range_after) return true;
    seen_array = true;
  }
  return false;
}

}  // namespace

int64_t broadcast_offset(std::span<const int64_t> dims, std::span<const int64_t> point) {
  int64_t offset = 0;
  const std::size_t shift = point.size() - dims.size();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    offset = offset * dims[axis] + (dims[axis] == 1 ? 0 : point[shift + axis]);
  }
  return offset;
}

Region region_of(std::span<const int64_t> dims, std::span<const IndexItem> index, std::span<const Tensor> arrays,
                 std::span<const int64_t> symbols, const std::string& op) {
  const std::vector<int64_t> array_dims = joint_dims(arrays);
  std::vector<Tensor> indices;  // as i64
  for (const Tensor& array : arrays) indices.push_back(cast(array, DType::i64));

  Region region;
  std::vector<std::size_t> axis_in_region(index.size(), 0);  // of each range
  std::size_t first_array_axis = 0;
  bool placed = arrays.empty();
  const auto place_arrays = [&] {
    if (placed) return;
    first_array_axis = region.dims.size();
    region.dims.insert(region.dims.end(), array_dims.begin(), array_dims.end());
    placed = true;
  };
  if (!arrays.empty() && ranges_between_arrays(index)) place_arrays();
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    if (index[axis].kind == IndexItem::Kind::array) place_arrays();
    if (index[axis].kind != IndexItem::Kind::range) continue;
    axis_in_region[axis] = region.dims.size();
    region.dims.push_back(index[axis].length().evaluate(symbols));
  }

  for_each_point(region.dims, [&](std::span<const int64_t> point) {
    int64_t element = 0;
    std::size_t next_array = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      const IndexItem& item = index[axis];
      int64_t at = 0;
      switch (item.kind) {
        case IndexItem::Kind::range: at = item.start.evaluate(symbols) + item.step * point[axis_in_region[axis]]; break;
        case IndexItem::Kind::position: at = item.position.evaluate(symbols); break;
        case IndexItem::Kind::array: {
          const Tensor& array = indices[next_array++];
          const int64_t given =
              array.get<int64_t>(broadcast_offset(array.dims, point.subspan(first_array_axis, array_dims.size())));
          at = given < 0 ? given + dims[axis] : given;
          if (at < 0 || at >= dims[axis]) {
            throw Error(ErrorCode::index_out_of_bounds, {},
                        str(op, ": index ", given, " is out of bounds for axis ", axis, " with size ", dims[axis]));
          }
          break;
        }
      }
      INLAY_CHECK(at >= 0 && at < dims[axis], op, ": ", at, " in axis ", axis, " of size ", dims[axis]);
      element = element * dims[axis] + at;
    }
    region.elements.push_back(element);
  });
  return region;
}

}  // namespace inlay::reference
