// Choosing among boxes of an image that overlap.
#include <limits>

#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

/// The edges of boxes along one axis of the image.
struct Span {
  ValueId low, high;
};

/// Boxes [batch, boxes]: the parts of a row of four, as edges.
struct Boxes {
  Span y, x;
};

ValueId difference(GraphBuilder& b, const Span& span) { return b.scalar(Op::sub_, {span.high, span.low}); }

ValueId is_positive(GraphBuilder& b, ValueId v) { return b.scalar(Op::gt_, {v, constant(b, b.type(v).dtype, 0)}); }

Boxes edges(Call& c) {
  GraphBuilder& b = c.b;
  const std::vector<Dim> dims = c.dims(0);
  if (dims.size() != 3 || !dims[2].is(4)) throw c.wrong("boxes are to be [batch, boxes, 4]");
  const auto part = [&](int64_t i) {
    return b.slice(c.in(0), {IndexItem::range(0, dims[0]), IndexItem::range(0, dims[1]), IndexItem::at(i)});
  };
  const auto between = [&](int64_t i, int64_t j) {
    return Span{b.scalar(Op::min_, {part(i), part(j)}), b.scalar(Op::max_, {part(i), part(j)})};
  };
  const auto around = [&](int64_t i, int64_t size) {
    const ValueId half = c.with(Op::div_, part(size), 2);
    return Span{b.scalar(Op::sub_, {part(i), half}), b.scalar(Op::add_, {part(i), half})};
  };
  return c.flag("center_point_box") ? Boxes{around(1, 3), around(0, 2)} : Boxes{between(0, 2), between(1, 3)};
}

ValueId area(GraphBuilder& b, const Boxes& boxes) {
  return b.scalar(Op::mul_, {difference(b, boxes.y), difference(b, boxes.x)});
}

/// Does the intersection of both have more than this share of their union? A box without an area overlaps with none.
ValueId overlap(GraphBuilder& b, const Boxes& one, const Boxes& other, ValueId threshold) {
  const auto common = [&](const Span& s, const Span& t) {
    return Span{b.scalar(Op::max_, {s.low, t.low}), b.scalar(Op::min_, {s.high, t.high})};
  };
  const Boxes both = {common(one.y, other.y), common(one.x, other.x)};
  const ValueId shared = area(b, both), area_of_one = area(b, one), area_of_other = area(b, other);
  const ValueId sum = b.scalar(Op::add_, {area_of_one, area_of_other});
  const ValueId share = b.scalar(Op::div_, {shared, b.scalar(Op::sub_, {sum, shared})});
  ValueId result = b.scalar(Op::gt_, {share, threshold});
  for (ValueId v : {difference(b, both.y), difference(b, both.x), area_of_one, area_of_other}) {
    result = b.scalar(Op::and_, {result, is_positive(b, v)});
  }
  return result;
}

/// One number, or `otherwise` where the input is left out.
ValueId threshold(Call& c, std::size_t i, double otherwise) {
  return c.has(i) ? c.b.reshape(c.in(i), {}) : c.literal(c.dtype(1), otherwise);
}

/// The step of the loop that takes a box for each image and class: that with the highest score that is left. The scores
/// of those that it overlaps with become -inf, which stands for no box.
inlay::Graph taking(const GraphBuilder& outside, const TensorType& scores, const Boxes& boxes, ValueId limit,
                    Dim count) {
  GraphBuilder b = outside.body();
  b.step("i", std::move(count));
  const ValueId left = b.param("scores", scores);
  const auto captured = [&](const char* name, ValueId v) { return b.param(name, outside.type(v)); };
  const Boxes all = {{captured("y_low", boxes.y.low), captured("y_high", boxes.y.high)},
                     {captured("x_low", boxes.x.low), captured("x_high", boxes.x.high)}};
  const ValueId threshold = captured("threshold", limit);

  const ValueId none = constant(b, scores.dtype, -std::numeric_limits<double>::infinity());
  const ValueId best = argmax(b, left, {2});  // [batch, classes]
  const ValueId is_found = b.scalar(Op::gt_, {b.reduce(Fold::max, left, {2}, scores.dtype), none});
  const auto of_best = [&](ValueId v) {
    const ValueId image = places(b, scores.dims[0], 1);
    return expand_dims(b, b.gather(v, {IndexItem::through(image), IndexItem::through(best)}), {2});
  };
  const auto of_all = [&](ValueId v) { return expand_dims(b, v, {1}); };
  const auto map = [](const Boxes& from, const auto& f) {
    return Boxes{{f(from.y.low), f(from.y.high)}, {f(from.x.low), f(from.x.high)}};
  };
  const ValueId is_gone =
      b.scalar(Op::or_, {overlap(b, map(all, of_best), map(all, of_all), threshold),
                         b.scalar(Op::eq_, {places(b, scores.dims[2], 0), expand_dims(b, best, {2})})});
  b.output(b.scalar(Op::select_, {is_gone, none, left}));
  // 0 stands for no box: so are the rows of the steps that are not done.
  const ValueId number = b.scalar(Op::add_, {best, constant(b, DType::i64, 1)});
  b.output(b.scalar(Op::select_, {is_found, number, constant(b, DType::i64, 0)}));
  b.output(b.reduce(Fold::or_, is_found, {0, 1}, DType::boolean));
  return std::move(b).finish();
}

/// A loop that takes one box of each image and class in each step, and ends when none is left.
void non_max_suppression(Call& c) {
  GraphBuilder& b = c.b;
  const Boxes boxes = edges(c);
  if (c.rank(1) != 3) throw c.wrong("scores are to be [batch, classes, boxes]");
  const std::vector<Dim> dims = {c.dims(0)[0], c.dims(1)[1], c.dims(0)[1]};
  const Dim most = c.has(2) ? min(max(c.size(2), 0), dims[2]) : Dim(0);
  if (most.is(0)) return c.out(b.broadcast(c.b.literal(Literal::of_integer(DType::i64, 0)), {0, 3}));
  const ValueId scores = b.broadcast(c.in(1), dims), limit = threshold(c, 3, 0);
  const double none = -std::numeric_limits<double>::infinity();
  const ValueId is_candidate = b.scalar(Op::gt_, {scores, threshold(c, 4, none)});
  const ValueId candidates = b.scalar(Op::select_, {is_candidate, scores, c.literal(c.dtype(1), none)});

  inlay::Graph body = taking(b, b.type(candidates), boxes, limit, most);
  const std::vector<ValueId> captured = {boxes.y.low, boxes.y.high, boxes.x.low, boxes.x.high, limit};
  const ValueId taken = b.loop(most, {candidates}, captured, std::move(body), Ends::by_condition)[1];
  const ValueId numbers = b.transpose(taken, {1, 2, 0});  // [batch, classes, steps]
  std::vector<ValueId> columns = nonzero(b, numbers);
  std::vector<IndexItem> index;
  for (ValueId column : columns) index.push_back(IndexItem::through(column));
  columns[2] = c.with(Op::sub_, b.gather(numbers, std::move(index)), 1);
  c.out(stack(b, columns, 1));
}

constexpr OpRow kOps[] = {{"NonMaxSuppression", non_max_suppression, 10}};

}  // namespace

std::span<const OpRow> boxes_ops() { return kOps; }

}  // namespace inlay::onnx
