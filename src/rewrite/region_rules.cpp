// Slices of written or concatenated values, and writes that overwrite others.
#include <algorithm>

#include "rewrite/node_rules.h"

namespace inlay::rewrite {
namespace {

Dim begin_of(const IndexItem& item) { return item.kind == IndexItem::Kind::position ? item.position : item.start; }
Dim end_of(const IndexItem& item) {
  return item.kind == IndexItem::Kind::position ? item.position + Dim(1) : item.stop;
}

IndexItem moved(IndexItem item, const Dim& by) {
  item.start = item.start - by;
  item.stop = item.stop - by;
  item.position = item.position - by;
  return item;
}

/// A slice of a concatenation within one part is a slice of that part.
std::optional<ValueId> slice_of_concat(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::concat);
  if (!inner) return std::nullopt;
  const auto axis = static_cast<std::size_t>(inner->axes[0]);
  const IndexItem& item = node.index[axis];
  Dim offset = 0;
  for (ValueId part : inner->operands) {
    const Dim end = offset + simplifier.graph().type(part).dims[axis];
    if (at_most(offset, begin_of(item)) && at_most(end_of(item), end)) {
      if (!simplifier.fires()) return std::nullopt;
      Node out = unary(Op::slice, part);
      out.index = node.index;
      IndexItem& own = out.index[axis];
      own = own.kind == IndexItem::Kind::position ? IndexItem::at(own.position - offset) : moved(own, offset);
      return simplifier.make(out, type);
    }
    offset = end;
  }
  return std::nullopt;
}

/// slice(cast(concat(x, y))) -> cast(slice(concat(x, y))): so it finds the part. (A mean over several axes divides by
/// elements of a shape.)
std::optional<ValueId> slice_of_cast_concat(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::cast);
  if (!inner || !operand_of(simplifier, *inner, Op::concat) || !simplifier.fires()) return std::nullopt;
  Node out = unary(Op::slice, inner->operands[0]);
  out.index = node.index;
  const ValueId part = simplifier.make(out, {simplifier.graph().type(inner->operands[0]).dtype, type.dims});
  return simplifier.make(unary(Op::cast, part), type);
}

/// What of the region a slice takes, by the axes of the region; none: it takes something else too.
std::optional<std::vector<IndexItem>> index_within(std::span<const IndexItem> slice,
                                                   std::span<const IndexItem> region) {
  std::vector<IndexItem> out;
  for (std::size_t axis = 0; axis < slice.size(); ++axis) {
    const IndexItem &item = slice[axis], &written = region[axis];
    if (written.kind == IndexItem::Kind::position) {
      if (item != written) return std::nullopt;
      continue;
    }
    const Dim begin = begin_of(written);
    if (item == written) {
      out.push_back(IndexItem::range(0, item.length()));
    } else if (written.kind == IndexItem::Kind::range && written.step == 1 && at_most(begin, begin_of(item)) &&
               at_most(end_of(item), written.stop)) {
      out.push_back(item.kind == IndexItem::Kind::position ? IndexItem::at(item.position - begin) : moved(item, begin));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

/// A slice within a region that was set is a slice of the value written there. (Where others read the written array,
/// it is there, and what was written may be nowhere else.)
std::optional<ValueId> slice_of_its_update(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::update);
  if (!inner || inner->combine != Combine::set) return std::nullopt;
  const bool is_all = inner->index == node.index;
  if (!is_all && simplifier.num_readers(node.operands[0]) > 1) return std::nullopt;
  const auto index = index_within(node.index, inner->index);
  if (!index) return std::nullopt;
  const ValueId written = inner->operands[1];
  const std::vector<Dim>& dims = simplifier.graph().type(written).dims;
  const std::vector<Dim> region = region_dims(simplifier.graph(), inner->index);
  const bool stretches = dims.size() <= region.size() &&
                         std::equal(dims.rbegin(), dims.rend(), region.rbegin(),
                                    [](const Dim& own, const Dim& wide) { return own.is(1) || own == wide; });
  if (!stretches || !simplifier.fires()) return std::nullopt;
  Node out = unary(Op::slice, simplifier.stretched(written, region));
  if (is_all) return out.operands[0];
  out.index = *index;
  return simplifier.make(out, type);
}

bool are_disjoint(std::span<const IndexItem> a, std::span<const IndexItem> b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    if (at_most(end_of(a[axis]), begin_of(b[axis])) || at_most(end_of(b[axis]), begin_of(a[axis]))) return true;
  }
  return false;
}

/// A slice that updates did not touch is a slice of the base, through all of them at once: a loop unrolled in Python
/// writes a vector element by element. (A base that should be updated in place gets no new reader.)
std::optional<ValueId> slice_beside_update(Simplifier& simplifier, const Node& node, const TensorType& type) {
  Node out = unary(Op::slice, node.operands[0]);
  out.index = node.index;
  const Node* inner = operand_of(simplifier, out, Op::update);
  while (inner && inner->in_place != InPlace::required && are_disjoint(inner->index, node.index)) {
    out.operands[0] = inner->operands[0];
    inner = operand_of(simplifier, out, Op::update);
  }
  if (out.operands[0] == node.operands[0] || !simplifier.fires()) return std::nullopt;
  return simplifier.make(out, type);
}

/// If a region is set twice, the first write is dropped. (Not if the base should be updated in place: other readers of
/// the first update would then have the bytes.)
std::optional<ValueId> update_again(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::update);
  if (!inner || inner->in_place == InPlace::required) return std::nullopt;
  if (node.combine != Combine::set || inner->index != node.index || !simplifier.fires()) return std::nullopt;
  Node out = node;
  out.operands[0] = inner->operands[0];
  out.in_place = InPlace::wanted;
  return simplifier.make(out, type);
}

/// An update of every element is a new value, or an elementwise op.
std::optional<ValueId> update_of_all(Simplifier& simplifier, const Node& node, const TensorType& type) {
  for (std::size_t axis = 0; axis < node.index.size(); ++axis) {
    const IndexItem& item = node.index[axis];
    const bool whole =
        item.kind == IndexItem::Kind::range && item.step == 1 && item.start.is(0) && item.stop == type.dims[axis];
    if (!whole) return std::nullopt;
  }
  const bool is_elementwise = node.combine == Combine::set || accepts(combine_op(node.combine), type.dtype);
  if (!is_elementwise || certain_dims(simplifier.graph(), node.operands) != type.dims) return std::nullopt;
  if (!simplifier.fires()) return std::nullopt;
  if (node.combine == Combine::set) return simplifier.stretched(node.operands[1], type.dims);
  return simplifier.scalar(combine_op(node.combine), node.operands);
}

/// concat(concat(x, y), z) -> concat(x, y, z). A concat with several readers is stored or computed once: its parts are
/// repeated only while they are few. (n concats, each of the last one with itself, would have 2^n parts.)
std::optional<ValueId> concat_of_concat(Simplifier& simplifier, const Node& node, const TensorType& type) {
  constexpr std::size_t kFew = 16;
  Node out{.op = Op::concat};
  out.axes = node.axes;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Node* inner = operand_of(simplifier, node, Op::concat, i);
    const bool is_repeated = inner && inner->operands.size() >= kFew && simplifier.num_readers(node.operands[i]) > 1;
    if (inner && !is_repeated && inner->axes == node.axes) {
      out.operands.insert(out.operands.end(), inner->operands.begin(), inner->operands.end());
    } else {
      out.operands.push_back(node.operands[i]);
    }
  }
  if (out.operands.size() == node.operands.size() || !simplifier.fires()) return std::nullopt;
  return simplifier.make(out, type);
}

using enum Close;

// clang-format off: a table
constexpr NodeRule kRules[] = {
    // name                  from                          to                             how close  op
    {"slice-of-concat",      "slice(concat(x, y))",        "slice(x), where it lies in x", bitwise,  Op::slice,  slice_of_concat},
    {"slice-of-cast-concat", "slice(cast(concat(x, y)))",  "cast(slice(concat(x, y)))",   bitwise,  Op::slice,  slice_of_cast_concat},
    {"slice-of-its-update",  "slice(update set(x, v))",    "slice(v), within the region",  bitwise,  Op::slice,  slice_of_its_update},
    {"slice-beside-update",  "slice(update(x, v))",        "slice(x), beside the region",  bitwise,  Op::slice,  slice_beside_update},
    {"update-again",         "update set(update(x, v), w)", "update set(x, w), of one region", bitwise, Op::update, update_again},
    {"update-of-all",        "update(x, v)",               "v, or op(x, v), of all of x",  bitwise,  Op::update, update_of_all},
    {"concat-of-concat",     "concat(concat(x, y), z)",    "concat(x, y, z)",              bitwise,  Op::concat, concat_of_concat},
};
// clang-format on

}  // namespace

std::span<const NodeRule> region_rules() { return kRules; }

}  // namespace inlay::rewrite
