#include "ir/compose_shape.h"

#include <algorithm>
#include <numeric>

namespace inlay {
namespace {

/// `axis` of a value of `rank` axes, of which x has some.
int place_of(const GraphBuilder& b, ValueId x, int rank, int64_t axis, std::string_view op) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  throw b.error(ErrorCode::axis_out_of_range, str(op, ": axis ", axis, " of a rank ", rank, " value"))
      .note("operand", b.graph().describe(x));
}

std::vector<int> places_of(const GraphBuilder& b, ValueId x, int rank, const std::vector<int64_t>& axes,
                           std::string_view op) {
  std::vector<int> places;
  for (int64_t axis : axes) places.push_back(place_of(b, x, rank, axis, op));
  std::ranges::sort(places);
  const auto twice = std::ranges::adjacent_find(places);
  if (twice == places.end()) return places;
  throw b.error(ErrorCode::axis_out_of_range, str(op, ": axis ", *twice, " is named twice"))
      .note("operand", b.graph().describe(x));
}

std::vector<int> axes_in_order(int rank) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

std::vector<IndexItem> whole(std::span<const Dim> dims) {
  std::vector<IndexItem> index;
  for (const Dim& dim : dims) index.push_back(IndexItem::range(0, dim));
  return index;
}

int axis_of(const GraphBuilder& b, ValueId x, int64_t axis, std::string_view op) {
  return place_of(b, x, b.type(x).rank(), axis, op);
}

std::vector<int> axes_of(const GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes, std::string_view op) {
  return places_of(b, x, b.type(x).rank(), axes, op);
}

ValueId expand_dims(GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes) {
  const int rank = b.type(x).rank() + static_cast<int>(axes.size());
  std::vector<Dim> dims = b.type(x).dims;
  for (int place : places_of(b, x, rank, axes, "expand_dims")) dims.insert(dims.begin() + place, Dim(1));
  return b.reshape(x, std::move(dims));
}

ValueId squeeze(GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes) {
  std::vector<Dim> dims;
  const std::vector<int> gone = places_of(b, x, b.type(x).rank(), axes, "squeeze");
  for (int axis = 0; axis < b.type(x).rank(); ++axis) {
    const Dim& dim = b.type(x).dims[axis];
    if (!std::ranges::binary_search(gone, axis)) {
      dims.push_back(dim);
    } else {
      b.require(DimCheck::Relation::equal, dim, 1, ErrorCode::shape_mismatch,
                str("squeeze: axis ", axis, " has {0} elements, not {1}"), x);
    }
  }
  return b.reshape(x, std::move(dims));
}

ValueId move_axis(GraphBuilder& b, ValueId x, int64_t from, int64_t to) {
  const int source = axis_of(b, x, from, "moveaxis"), place = axis_of(b, x, to, "moveaxis");
  std::vector<int> order = axes_in_order(b.type(x).rank());
  order.erase(order.begin() + source);
  order.insert(order.begin() + place, source);
  return b.transpose(x, std::move(order));
}

ValueId swap_axes(GraphBuilder& b, ValueId x, int64_t first, int64_t second) {
  std::vector<int> order = axes_in_order(b.type(x).rank());
  std::swap(order[axis_of(b, x, first, "swapaxes")], order[axis_of(b, x, second, "swapaxes")]);
  return b.transpose(x, std::move(order));
}

std::vector<ValueId> split(GraphBuilder& b, ValueId x, const std::vector<Dim>& sizes, int64_t axis) {
  if (sizes.empty()) throw b.error(ErrorCode::wrong_arity, "split: into no parts");
  const int along = axis_of(b, x, axis, "split");
  const Dim dim = b.type(x).dims[along];
  Dim total = 0;
  for (const Dim& size : sizes) total = total + size;
  b.require(DimCheck::Relation::equal, total, dim, ErrorCode::shape_mismatch,
            str("split: the sizes add up to {0}, and axis ", along, " has {1} elements"), x);
  std::vector<ValueId> parts;
  Dim start = 0;
  for (const Dim& size : sizes) {
    std::vector<IndexItem> index = whole(b.type(x).dims);
    index[along] = IndexItem::range(start, start + size);
    parts.push_back(b.slice(x, std::move(index)));
    start = start + size;
  }
  return parts;
}

ValueId stack(GraphBuilder& b, const std::vector<ValueId>& parts, int64_t axis) {
  if (parts.empty()) throw b.error(ErrorCode::wrong_arity, "stack: of no parts");
  const int along = place_of(b, parts[0], b.type(parts[0]).rank() + 1, axis, "stack");
  std::vector<ValueId> layers;
  for (ValueId part : parts) {
    if (b.type(part).rank() != b.type(parts[0]).rank()) {
      throw b.error(ErrorCode::wrong_rank,
                    str("stack: parts of rank ", b.type(parts[0]).rank(), " and ", b.type(part).rank()));
    }
    layers.push_back(expand_dims(b, part, {along}));
  }
  return b.concat(std::move(layers), along);
}

ValueId tile(GraphBuilder& b, ValueId x, std::vector<Dim> times) {
  std::vector<Dim> dims = b.type(x).dims;
  const std::size_t rank = std::max(dims.size(), times.size());
  dims.insert(dims.begin(), rank - dims.size(), Dim(1));
  times.insert(times.begin(), rank - times.size(), Dim(1));
  std::vector<Dim> apart, copied, joined;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!times[i].is(1)) {
      apart.emplace_back(1);
      copied.push_back(times[i]);
    }
    apart.push_back(dims[i]);
    copied.push_back(dims[i]);
    joined.push_back(times[i] * dims[i]);
  }
  return b.reshape(b.broadcast(b.reshape(x, std::move(apart)), std::move(copied)), std::move(joined));
}

ValueId repeat(GraphBuilder& b, ValueId x, const Dim& count, int64_t axis) {
  const int along = axis_of(b, x, axis, "repeat");
  std::vector<Dim> copied = b.type(x).dims, joined = copied;
  copied.insert(copied.begin() + along + 1, count);
  joined[along] = joined[along] * count;
  return b.reshape(b.broadcast(expand_dims(b, x, {along + 1}), std::move(copied)), std::move(joined));
}

ValueId roll(GraphBuilder& b, ValueId x, int64_t shift, int64_t axis) {
  const int along = axis_of(b, x, axis, "roll");
  const Dim dim = b.type(x).dims[along];
  // shift mod dim; of no elements, 0.
  const Dim period = max(dim, 1);
  const Dim cut = dim - min(dim, Dim(shift) - period * floor_div(shift, period));
  std::vector<IndexItem> head = whole(b.type(x).dims), tail = head;
  head[along] = IndexItem::range(0, cut);
  tail[along] = IndexItem::range(cut, dim);
  const ValueId last = b.slice(x, std::move(tail)), first = b.slice(x, std::move(head));
  return b.concat({last, first}, along);
}

namespace {

/// Is `have` longer than 1? 1 or 0.
Dim is_long(const Dim& have) { return min(max(have - 1, 0), 1); }

/// What the length along `axis` must be, for it to be 1 or `want`. It is that of what is read at place * is_long: of
/// nothing, as long as is right where nothing is read.
Dim fitting_length(GraphBuilder& b, ValueId x, int axis, const Dim& want, std::string_view made_for) {
  const Dim have = b.type(x).dims[axis];
  const Dim fits = (want - 1) * is_long(have) + max(min(have, 1), min(want, 1));
  const auto message = [&](const char* is, const char* wanted) {
    return str(made_for, ": the value's dim ", axis, " is ", is, ", neither 1 nor ", wanted);
  };
  b.require(DimCheck::Relation::at_most, want * (1 - min(have, 1)), have, ErrorCode::shape_mismatch,
            message("{1}", "{0}"), x);
  b.require(DimCheck::Relation::equal, have, fits, ErrorCode::shape_mismatch, message("{0}", "{1}"), x);
  return fits;
}

}  // namespace

ValueId stretch(GraphBuilder& b, ValueId x, const std::vector<Dim>& shape, std::string_view made_for) {
  const std::vector<Dim> dims = b.type(x).dims;
  if (dims.size() != shape.size()) {
    throw b.error(ErrorCode::wrong_rank, str(made_for, ": from rank ", dims.size(), " to rank ", shape.size()))
        .note("operand", b.graph().describe(x));
  }
  std::vector<int> unknown;
  std::vector<Dim> fitting = dims;
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    if (dims[axis].is_constant() || same_dim(dims[axis], shape[axis]) == Answer::yes) continue;
    unknown.push_back(axis);
    fitting[axis] = fitting_length(b, x, axis, shape[axis], made_for);
  }
  if (unknown.empty()) return b.broadcast(x, shape);
  // One array of places for each axis from the first unknown one to the last: so their axes stay where they are.
  std::vector<IndexItem> index;
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    if (axis < unknown.front() || axis > unknown.back()) {
      index.push_back(IndexItem::range(0, fitting[axis]));
      continue;
    }
    const bool is_unknown = std::ranges::binary_search(unknown, axis);
    const Dim length = is_unknown ? shape[axis] : dims[axis];
    std::vector<Dim> along(static_cast<std::size_t>(unknown.back() - unknown.front() + 1), Dim(1));
    along[static_cast<std::size_t>(axis - unknown.front())] = length;
    ValueId places = b.reshape(b.iota(length, DType::i64), std::move(along));
    if (is_unknown) places = b.scalar(ScalarOp::mul_, {places, b.size(is_long(dims[axis]))});
    index.push_back(IndexItem::through(places));
  }
  return b.broadcast(b.gather(b.broadcast(x, std::move(fitting)), std::move(index)), shape);
}

ValueId outer(GraphBuilder& b, ValueId left, ValueId right) {
  const ValueId rows = b.reshape(left, {product(b.type(left).dims), 1});
  const ValueId columns = b.reshape(right, {1, product(b.type(right).dims)});
  return b.scalar(b.type(left).dtype == DType::boolean ? ScalarOp::and_ : ScalarOp::mul_, {rows, columns});
}

}  // namespace inlay
