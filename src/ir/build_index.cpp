// Values that are read or written through an index list: slice, gather, update, scatter.
#include <algorithm>

#include "ir/build.h"
#include "ir/builder.h"
#include "ir/mistakes.h"
#include "support/counted.h"

namespace inlay {

namespace {

/// What a Python user would count from the end is said to be no position.
void refuse_negative(const GraphBuilder& b, ValueId x, std::size_t axis, const IndexItem& item, const char* op) {
  const auto is_negative = [](const Dim& at) { return at.is_constant() && at.constant() < 0; };
  const auto wrong = [&](ErrorCode code, const Dim& at, const std::string& message) {
    return negative_position(b, code, str(op, ": ", message), x, axis, at);
  };
  if (item.kind == IndexItem::Kind::position && is_negative(item.position)) {
    throw wrong(ErrorCode::index_out_of_bounds, item.position,
                str("index ", item.position.constant(), " is out of bounds for axis ", axis, ", which begins at 0"));
  }
  if (item.kind != IndexItem::Kind::range) return;
  for (const auto& [at, verb] : {std::pair(item.start, "begins"), std::pair(item.stop, "ends")}) {
    if (!is_negative(at)) continue;
    throw wrong(ErrorCode::slice_out_of_range, at, str("axis ", axis, " ", verb, " at ", at.constant(), ", before 0"));
  }
}

void require_own_index(const GraphBuilder& b, std::span<const IndexItem> index, std::string_view what) {
  for (const IndexItem& item : index) {
    for (const Dim* dim : {&item.start, &item.stop, &item.position}) b.require_own({dim, 1}, what);
    if (item.kind == IndexItem::Kind::array) (void)b.type(item.array);
  }
}

void complete_index(GraphBuilder& b, ValueId x, std::vector<IndexItem>& index, bool arrays_allowed, const char* op) {
  const std::vector<Dim> dims = b.type(x).dims;
  if (index.size() > dims.size()) {
    throw b
        .error(ErrorCode::wrong_rank,
               str(op, ": ", counted(index.size(), "index", "indices"), " for ", counted(dims.size(), "axis", "axes")))
        .note("operand", b.graph().describe(x));
  }
  for (std::size_t axis = index.size(); axis < dims.size(); ++axis) index.push_back(IndexItem::range(0, dims[axis]));
  const auto at_most = [&](const Dim& low, const Dim& high, ErrorCode code, const std::string& message) {
    b.require(DimCheck::Relation::at_most, low, high, code, str(op, ": ", message), x);
  };
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const IndexItem& item = index[axis];
    refuse_negative(b, x, axis, item, op);
    switch (item.kind) {
      case IndexItem::Kind::range:
        if (item.start.is(0) && item.stop == dims[axis]) break;  // whole: a size is never negative
        at_most(0, item.start, ErrorCode::slice_out_of_range, str("axis ", axis, " begins at {1}, before {0}"));
        at_most(item.start, item.stop, ErrorCode::slice_out_of_range,
                str("axis ", axis, " begins at {0}, behind its end, {1}"));
        at_most(item.stop, dims[axis], ErrorCode::slice_out_of_range,
                str("axis ", axis, " ends at {0}, beyond its size, {1}"));
        break;
      case IndexItem::Kind::position:
        at_most(0, item.position, ErrorCode::index_out_of_bounds,
                str("index {1} is out of bounds for axis ", axis, ", which begins at {0}"));
        at_most(item.position, dims[axis] - 1, ErrorCode::index_out_of_bounds,
                str("index {0} is out of bounds for axis ", axis, ", whose last is {1}"));
        break;
      case IndexItem::Kind::array:
        if (!arrays_allowed) {
          throw b.error(ErrorCode::wrong_dtype, str(op, ": an index array stands at axis ", axis))
              .help("read through index arrays with gather, write with scatter");
        }
        if (!is_integer(b.type(item.array).dtype)) {
          throw b.error(ErrorCode::wrong_dtype, str(op, ": an index array of ", dtype_name(b.type(item.array).dtype)))
              .note("index", b.graph().describe(item.array));
        }
        break;
    }
  }
}

std::vector<Dim> checked_region(GraphBuilder& b, std::span<const IndexItem> index, const char* op) {
  std::vector<ValueId> arrays;
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::Kind::array) arrays.push_back(item.array);
  }
  (void)broadcast_dims(b, arrays, str(op, ": index arrays"));  // they must fit
  return region_dims(b.graph(), index);
}

/// No dim is so long that a longer step would find another element; the negative of the minimum is none.
void shorten_steps(std::span<IndexItem> index) {
  constexpr int64_t kLongest = int64_t{1} << 62;
  for (IndexItem& item : index) item.step = std::clamp(item.step, -kLongest, kLongest);
}

/// The axes along which the index goes down, where it does so within x.
std::vector<int> check_steps(GraphBuilder& b, ValueId x, std::span<const IndexItem> index, const char* op) {
  std::vector<int> downwards;
  for (int axis = 0; axis < std::min(b.type(x).rank(), static_cast<int>(index.size())); ++axis) {
    const IndexItem& item = index[axis];
    if (item.kind != IndexItem::Kind::range || item.step > 0) continue;
    if (item.step == 0) throw b.error(ErrorCode::slice_out_of_range, str(op, ": axis ", axis, " has a step of 0"));
    downwards.push_back(axis);
    const auto at_most = [&](const Dim& low, const Dim& high, const char* message) {
      b.require(DimCheck::Relation::at_most, low, high, ErrorCode::slice_out_of_range,
                str(op, ": axis ", axis, message, ", going down"), x);
    };
    at_most(item.start, b.type(x).dims[axis] - 1, " begins at {0}, beyond {1}");
    at_most(item.stop, item.start, " begins at {1}, before {0}");
    at_most(-1, item.stop, " ends before {1}, below {0}");
  }
  return downwards;
}

/// x, flipped where the index goes down, and the index of the same elements going up.
ValueId upwards(GraphBuilder& b, ValueId x, std::vector<IndexItem>& index, const char* op) {
  shorten_steps(index);
  std::vector<int> axes = check_steps(b, x, index, op);
  for (int axis : axes) {
    const Dim last = b.type(x).dims[axis] - 1;
    index[axis] = IndexItem::range(last - index[axis].start, last - index[axis].stop, -index[axis].step);
  }
  return b.flip(x, std::move(axes));
}

/// v, which is written to a region of this rank, flipped along the region's axes that stand for these axes of the base.
ValueId flip_in_region(GraphBuilder& b, ValueId v, std::span<const IndexItem> index, const std::vector<int>& axes,
                       int region_rank) {
  std::vector<int> flips;
  const int num_ranges = static_cast<int>(
      std::ranges::count_if(index, [](const IndexItem& item) { return item.kind == IndexItem::Kind::range; }));
  const bool apart = arrays_apart(index);
  bool behind_arrays = apart;
  int range = 0;
  for (int axis = 0; axis < static_cast<int>(index.size()); ++axis) {
    if (index[axis].kind == IndexItem::Kind::array) behind_arrays = true;
    if (index[axis].kind != IndexItem::Kind::range) continue;
    const int in_region = range++ + (behind_arrays ? region_rank - num_ranges : 0);
    const int in_value = in_region - (region_rank - b.type(v).rank());
    const bool flipped = std::ranges::binary_search(axes, axis) && in_value >= 0 && !b.type(v).dims[in_value].is(1);
    if (flipped) flips.push_back(in_value);
  }
  return b.flip(v, std::move(flips));
}

/// The node of an update or a scatter, which is an update too where no index array stands.
Node writing(GraphBuilder& b, Op op, Combine combine, ValueId x, std::vector<IndexItem> index, ValueId v,
             InPlace in_place) {
  const char* name = op == Op::update ? "update" : "scatter";
  require_own_index(b, index, name);
  shorten_steps(index);
  const std::vector<int> downwards = check_steps(b, x, index, name);
  for (int axis : downwards) {
    // The same elements, going up from the last one; an empty region stands behind its start.
    const Dim start = index[axis].start;
    const int64_t step = -index[axis].step;
    const Dim last = start + step - Dim(step) * ceil_div(start - index[axis].stop, step);
    index[axis] = IndexItem::range(step == 1 ? last : min(last, start + 1), start + 1, step);
  }
  complete_index(b, x, index, op == Op::scatter, name);
  if (b.type(v).dtype != b.type(x).dtype) {
    throw b
        .error(ErrorCode::wrong_dtype,
               str(name, ": a value of ", dtype_name(b.type(v).dtype), " into ", dtype_name(b.type(x).dtype)))
        .note("base", b.graph().describe(x))
        .note("value", b.graph().describe(v))
        .help("cast the value");
  }
  if (combine == Combine::and_ || combine == Combine::or_ || combine == Combine::xor_) {
    throw b.error(ErrorCode::unsupported, str(name, ": `", combine_name(combine), "` is for reductions"));
  }
  if (combine != Combine::set && !accepts(combine_op(combine), b.type(x).dtype)) {
    throw b
        .error(ErrorCode::wrong_dtype,
               str(name, " ", combine_name(combine), ": does not take ", dtype_name(b.type(x).dtype)))
        .note("base", b.graph().describe(x));
  }
  const std::vector<Dim> region = checked_region(b, index, name);
  const std::vector<Dim>& from = b.type(v).dims;
  if (from.size() > region.size()) {
    throw b
        .error(ErrorCode::wrong_rank,
               str(name, ": a value of rank ", from.size(), " into a region of rank ", region.size()))
        .note("value", b.graph().describe(v));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t axis = region.size() - from.size() + i;
    if (from[i].is(1)) continue;
    b.require(from[i], region[axis], [&] { return str(name, ": the value's dim ", i, " is {0}, the region's is {1}"); },
              {{"base", x}, {"value", v}});
  }
  v = flip_in_region(b, v, index, downwards, static_cast<int>(region.size()));
  Node node{.op = op, .combine = combine, .in_place = in_place};
  node.operands = {x, v};
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::Kind::array) node.operands.push_back(item.array);
  }
  if (node.operands.size() == 2) node.op = Op::update;
  node.index = std::move(index);
  return node;
}

}  // namespace

ValueId GraphBuilder::slice(ValueId x, std::vector<IndexItem> index) {
  require_own_index(*this, index, "slice");
  x = upwards(*this, x, index, "slice");
  complete_index(*this, x, index, /*arrays_allowed=*/false, "slice");
  const auto whole = [&](std::size_t axis) {
    return index[axis].kind == IndexItem::Kind::range && index[axis].step == 1 && index[axis].start.is(0) &&
           index[axis].stop == type(x).dims[axis];
  };
  bool all_whole = true;
  for (std::size_t axis = 0; axis < index.size(); ++axis) all_whole = all_whole && whole(axis);
  if (all_whole) return x;
  TensorType result{type(x).dtype, checked_region(*this, index, "slice")};
  Node node{.op = Op::slice};
  node.operands = {x};
  node.index = std::move(index);
  return add(std::move(node), std::move(result));
}

ValueId GraphBuilder::gather(ValueId x, std::vector<IndexItem> index, std::string made_for) {
  require_own_index(*this, index, "gather");
  x = upwards(*this, x, index, "gather");
  complete_index(*this, x, index, /*arrays_allowed=*/true, "gather");
  TensorType result{type(x).dtype, checked_region(*this, index, "gather")};
  Node node{.op = Op::gather};
  node.operands = {x};
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::Kind::array) node.operands.push_back(item.array);
  }
  if (node.operands.size() == 1) return slice(x, std::move(index));
  node.index = std::move(index);
  node.text = std::move(made_for);
  return add(std::move(node), std::move(result));
}

ValueId GraphBuilder::update(Combine combine, ValueId x, std::vector<IndexItem> index, ValueId v, InPlace in_place) {
  Node node = writing(*this, Op::update, combine, x, std::move(index), v, in_place);
  return add(std::move(node), type(x));
}

ValueId GraphBuilder::scatter(Combine combine, ValueId x, std::vector<IndexItem> index, ValueId v, InPlace in_place) {
  Node node = writing(*this, Op::scatter, combine, x, std::move(index), v, in_place);
  return add(std::move(node), type(x));
}

}  // namespace inlay
