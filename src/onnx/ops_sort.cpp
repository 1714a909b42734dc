// Ops that compare the elements of an axis with each other.
#include "ir/compose_shape.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"
#include "onnx/top_k.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

/// Half precision is sorted as f32, which has the same order.
ValueId sortable(Call& c, ValueId x) { return c.b.cast(x, computed_in(c.type(x).dtype)); }

/// How many is an attribute before version 10. With `sorted=0` any order is right.
void top_k(Call& c) {
  const bool largest = c.version < 11 || c.flag("largest", true);
  const Dim count = c.version < 10 ? Dim(c.integer("k")) : c.size(1);
  const int axis = c.axis(c.integer("axis", -1), c.rank(0));
  const auto found =
      first_in_order(c.b, sortable(c, c.in(0)), count, axis, largest ? Extreme::largest : Extreme::smallest);
  c.out(0, c.b.cast(found.values, c.dtype(0)));
  c.out(1, found.places);
}

/// The rows of a matrix [n, m] in ascending order, of equal ones the first first: their places [n]. From the last
/// column to the first, each is sorted, and equals keep their order.
ValueId ascending_rows(GraphBuilder& b, ValueId rows) {
  const TensorType type = b.type(rows);
  GraphBuilder body = b.body();
  const ValueId step = body.step("i", type.dims[1]);
  const ValueId order = body.param("order", {DType::i64, {type.dims[0]}});
  const ValueId inside = body.param("rows", type);
  const ValueId column = body.scalar(Op::sub_, {body.size(type.dims[1] - 1), step});
  const ValueId elements = body.gather(inside, {IndexItem::through(order), IndexItem::through(column)});
  const ValueId sorted = body.library(LibraryOp::argsort, {elements})[0];
  body.output(body.gather(order, {IndexItem::through(sorted)}));
  return b.loop(type.dims[1], {b.iota(type.dims[0], DType::i64)}, {rows}, std::move(body).finish())[0];
}

/// A number for each row, so that they are equal where the rows are and ascend where the rows do.
ValueId numbers_of_rows(GraphBuilder& b, ValueId rows) {
  const Dim length = b.type(rows).dims[0], width = b.type(rows).dims[1];
  const ValueId order = ascending_rows(b, rows), at = b.iota(length, DType::i64);
  const ValueId zero = constant(b, DType::i64, 0);
  const auto row = [&](ValueId place) {
    return b.gather(rows,
                    {IndexItem::through(b.gather(order, {IndexItem::through(place)})), IndexItem::range(0, width)});
  };
  const ValueId before = b.scalar(Op::max_, {b.scalar(Op::sub_, {at, constant(b, DType::i64, 1)}), zero});
  const ValueId differs = b.scalar(Op::ne_, {row(at), row(before)});
  const ValueId is_new = b.reduce(Fold::or_, differs, {1}, DType::boolean);
  const ValueId number = b.cumulative(Combine::add, b.cast(is_new, DType::i64), 0, DType::i64);
  return b.scatter(Combine::set, full(b, zero, {length}), {IndexItem::through(order)}, number);
}

/// Element i of the axis, or of all elements as one line, is at place i of the first axis.
ValueId in_rows(Call& c, std::optional<int> axis) {
  if (axis) return move_axis(c.b, c.in(0), *axis, 0);
  return c.b.reshape(c.in(0), {product(c.dims(0))});
}

ValueId taken(GraphBuilder& b, ValueId x, ValueId places) {
  std::vector<IndexItem> index = whole(b.type(x).dims);
  index[0] = IndexItem::through(places);
  return b.gather(x, std::move(index));
}

/// With `sorted=0` in the order in which they first occur.
void unique_op(Call& c) {
  GraphBuilder& b = c.b;
  std::optional<int> axis;
  if (c.has_attribute("axis")) axis = c.axis(c.integer("axis"), c.rank(0));
  const ValueId all = in_rows(c, axis);
  ValueId compared = sortable(c, all);
  if (axis) {
    const std::vector<Dim> dims = c.type(all).dims;
    const Dim width = product(std::vector<Dim>(dims.begin() + 1, dims.end()));
    compared = numbers_of_rows(b, b.reshape(compared, {dims[0], width}));
  }
  Unique found = unique(b, compared);
  if (!c.flag("sorted", true)) {
    const ValueId order = b.library(LibraryOp::argsort, {found.first})[0];
    const ValueId place = b.library(LibraryOp::argsort, {order})[0];
    found.first = taken(b, found.first, order);
    found.counts = taken(b, found.counts, order);
    found.inverse = taken(b, place, found.inverse);
  }
  const ValueId values = taken(b, all, found.first);
  c.out(0, axis ? move_axis(b, values, 0, *axis) : values);
  c.out(1, found.first);
  c.out(2, found.inverse);
  c.out(3, found.counts);
}

constexpr OpRow kOps[] = {
    {"TopK", top_k},
    {"Unique", unique_op, 11},
};

}  // namespace

std::span<const OpRow> sort_ops() { return kOps; }

}  // namespace inlay::onnx
