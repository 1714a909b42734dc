#include <algorithm>
#include <optional>

#include "ir/verifier.h"

namespace inlay::verifier {

namespace {

void range(OpCheck& c, const IndexItem& item, const Dim& dim, int axis) {
  c.require(item.step > 0, str("step ", item.step));
  if (item.start.is(0) && item.stop == dim) return;  // whole: a size is never negative
  c.require(c.sizes.at_most(0, item.start) && c.sizes.at_most(item.start, item.stop) && c.sizes.at_most(item.stop, dim),
            str("range ", c.text(item.start), ":", c.text(item.stop), " is not shown to be in axis ", axis));
}

/// `dims` widened by `other`, aligned at the last axis.
void stretch(OpCheck& c, std::vector<Dim>& dims, const std::vector<Dim>& other) {
  if (other.size() > dims.size()) dims.insert(dims.begin(), other.size() - dims.size(), Dim(1));
  for (std::size_t i = 0; i < other.size(); ++i) {
    Dim& dim = dims[dims.size() - other.size() + i];
    if (dim.is(1)) {
      dim = other[i];
    } else {
      c.require(other[i].is(1) || c.sizes.same(dim, other[i]), "the index arrays do not fit each other");
    }
  }
}

/// The shape of x[index], or none when the index itself is wrong. `first_array`: where index arrays begin in
/// operands.
std::optional<std::vector<Dim>> region(OpCheck& c, std::size_t first_array) {
  const TensorType& x = c.operand(0);
  if (static_cast<int>(c.node.index.size()) != x.rank()) {
    c.fail(str(c.node.index.size(), " index items for rank ", x.rank()));
    return std::nullopt;
  }
  std::vector<Dim> ranges_before, ranges_after, arrays;
  std::size_t next_array = first_array;
  int array_blocks = 0;
  bool in_block = false;
  const bool any_array =
      std::ranges::any_of(c.node.index, [](const IndexItem& item) { return item.kind == IndexItem::Kind::array; });
  const auto in_array_block = [&] {
    if (!in_block) ++array_blocks;
    in_block = true;
  };
  for (int axis = 0; axis < x.rank(); ++axis) {
    const IndexItem& item = c.node.index[axis];
    switch (item.kind) {
      case IndexItem::Kind::range:
        range(c, item, x.dims[axis], axis);
        (array_blocks ? ranges_after : ranges_before).push_back(item.length());
        in_block = false;
        break;
      case IndexItem::Kind::position:
        c.require(c.sizes.at_most(0, item.position) && c.sizes.at_most(item.position + 1, x.dims[axis]),
                  str("position ", c.text(item.position), " is not shown to be in axis ", axis));
        if (any_array) in_array_block();
        break;
      case IndexItem::Kind::array:
        if (next_array >= c.node.operands.size() || c.node.operands[next_array] != item.array) {
          c.fail("the operands are not the index arrays in order");
          return std::nullopt;
        }
        ++next_array;
        c.require(is_integer(c.type(item.array).dtype), "an index array of no integers");
        stretch(c, arrays, c.type(item.array).dims);
        in_array_block();
        break;
    }
  }
  if (next_array != c.node.operands.size()) {
    c.fail("more operands than index arrays");
    return std::nullopt;
  }
  // Arrays with a range between them, where a position beside arrays is one too: their axes come first, as in NumPy.
  std::vector<Dim> dims = array_blocks > 1 ? arrays : ranges_before;
  const std::vector<Dim>& middle = array_blocks > 1 ? ranges_before : arrays;
  dims.insert(dims.end(), middle.begin(), middle.end());
  dims.insert(dims.end(), ranges_after.begin(), ranges_after.end());
  return dims;
}

}  // namespace

void check_read(OpCheck& c) {
  if (const auto dims = region(c, 1)) c.expect_type(c.operand(0).dtype, *dims);
}

void check_write(OpCheck& c) {
  const TensorType &base = c.operand(0), &value = c.operand(1);
  if (const auto dims = region(c, 2)) c.expect_stretches(value.dims, *dims, "the value");
  c.require(value.dtype == base.dtype, "the value has another dtype than the base");
  c.require(c.node.combine == Combine::set || accepts(combine_op(c.node.combine), base.dtype),
            str(combine_name(c.node.combine), " does not take ", dtype_name(base.dtype)));
  c.expect_type(base.dtype, base.dims);
}

}  // namespace inlay::verifier
