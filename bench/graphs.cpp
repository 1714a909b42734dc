#include "graphs.h"

#include <algorithm>
#include <random>
#include <vector>

#include "ir/builder.h"
#include "ir/linalg.h"

namespace inlay {
namespace {

class Model {
 public:
  explicit Model(int nodes) {
    const Dim n = b_.symbol("n");
    rows_ = {b_.param("x", {DType::f64, {n}}), b_.param("y", {DType::f64, {n}})};
    groups_ = {b_.param("a", {DType::f64, {85}}), b_.param("b", {DType::f64, {85}})};
    numbers_ = {b_.param("s", {DType::f64, {}})};
    index_ = b_.bound("g", {DType::i64, {n}}, {.has_range = true, .min = 0, .max = 84});
    for (int i = 0; i < nodes; ++i) grow(std::uniform_int_distribution<int>(0, 99)(random_));
    for (const ValueId v : {rows_.back(), groups_.back(), sum_of_numbers()}) b_.output(v);
  }
  Graph finish() && { return std::move(b_).finish(); }

 private:
  void grow(int kind) {
    if (kind < 45) {
      rows_.push_back(b_.scalar(kind < 15   ? ScalarOp::add_
                                : kind < 30 ? ScalarOp::mul_
                                            : ScalarOp::sub_,
                                {recent(rows_), recent(rows_)}));
    } else if (kind < 55) {
      rows_.push_back(b_.scalar(kind < 50 ? ScalarOp::exp_ : ScalarOp::sigmoid_, {recent(rows_)}));
    } else if (kind < 65) {
      rows_.push_back(b_.scalar(ScalarOp::mul_, {recent(rows_), recent(numbers_)}));
    } else if (kind < 72) {
      rows_.push_back(b_.gather(recent(groups_), {IndexItem::through(index_)}));
    } else if (kind < 77) {
      groups_.push_back(b_.scatter(Combine::add, recent(groups_), {IndexItem::through(index_)}, recent(rows_)));
    } else if (kind < 82) {
      groups_.push_back(b_.scalar(ScalarOp::add_, {recent(groups_), recent(groups_)}));
    } else if (kind < 90) {
      numbers_.push_back(b_.reduce(Fold::add, recent(rows_), {0}, DType::f64));
    } else {
      numbers_.push_back(b_.scalar(ScalarOp::mul_, {recent(numbers_), recent(numbers_)}));
    }
  }

  ValueId recent(const std::vector<ValueId>& values) {
    const auto back = std::min<std::size_t>(std::geometric_distribution<int>(0.25)(random_), values.size() - 1);
    return values[values.size() - 1 - back];
  }

  ValueId sum_of_numbers() {
    ValueId sum = numbers_.front();
    for (std::size_t i = 1; i < numbers_.size(); ++i) sum = b_.scalar(ScalarOp::add_, {sum, numbers_[i]});
    return sum;
  }

  GraphBuilder b_;
  std::mt19937_64 random_{17};
  std::vector<ValueId> rows_, groups_, numbers_;
  ValueId index_;
};

Graph model(int nodes) { return Model(nodes).finish(); }

/// Each value is made of the one before.
Graph chain(int nodes) {
  GraphBuilder b;
  ValueId x = b.param("x", {DType::f64, {b.symbol("n")}});
  for (int i = 0; i < nodes; ++i) x = b.scalar(i % 2 ? ScalarOp::sin_ : ScalarOp::neg_, {x});
  b.output(x);
  return std::move(b).finish();
}

/// Each value is made of the two before.
Graph shared(int nodes) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  ValueId x = b.param("x", {DType::f64, {n}}), y = b.param("y", {DType::f64, {n}});
  for (int i = 0; i < nodes; ++i) {
    const ValueId next = b.scalar(i % 3 ? ScalarOp::add_ : ScalarOp::mul_, {x, y});
    x = y;
    y = next;
  }
  b.output(y);
  return std::move(b).finish();
}

/// A sum of terms, each of a parameter's element.
Graph wide_sum(int nodes) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  const ValueId x = b.param("x", {DType::f64, {n}}), weights = b.param("w", {DType::f64, {nodes}});
  ValueId sum = x;
  for (int i = 0; i < nodes / 3; ++i) {
    const ValueId weight = b.slice(weights, {IndexItem::at(i)});
    sum = b.scalar(ScalarOp::add_, {sum, b.scalar(ScalarOp::mul_, {x, weight})});
  }
  b.output(sum);
  return std::move(b).finish();
}

/// Sums of many arrays, each of its own size.
Graph reductions(int nodes) {
  GraphBuilder b;
  ValueId sum = b.param("s", {DType::f64, {}});
  for (int i = 0; i < nodes / 3; ++i) {
    const ValueId x = b.param(str("x", i), {DType::f64, {b.symbol(str("n", i))}});
    const ValueId square = b.scalar(ScalarOp::mul_, {x, x});
    sum = b.scalar(ScalarOp::add_, {sum, b.reduce(Fold::add, square, {0}, DType::f64)});
  }
  b.output(sum);
  return std::move(b).finish();
}

/// A hierarchical model: many groupings of one data set, each with its index, its effects and their gradient.
Graph groupings(int nodes) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  ValueId rows = b.param("x", {DType::f64, {n}});
  const ValueId zero = b.literal(Literal::of_float(DType::f64, 0));
  std::vector<ValueId> gradients;
  for (int i = 0; i < nodes / 5; ++i) {
    const Dim size = 20 + i % 50;
    const ValueId effects = b.param(str("a", i), {DType::f64, {size}});
    const ValueId index = b.bound(str("g", i), {DType::i64, {n}}, {.has_range = true, .min = 0, .max = 19});
    const ValueId one = b.gather(effects, {IndexItem::through(index)});
    rows = b.scalar(ScalarOp::add_, {rows, one});
    const ValueId zeros = b.broadcast(zero, {size});
    const ValueId part = b.scalar(ScalarOp::mul_, {rows, one});
    gradients.push_back(b.scatter(Combine::add, zeros, {IndexItem::through(index)}, part));
  }
  b.output(b.reduce(Fold::add, rows, {0}, DType::f64));
  for (const ValueId v : gradients) b.output(v);
  return std::move(b).finish();
}

/// Short vectors that are parts of one, and their gradients, put together again.
Graph parts(int nodes) {
  GraphBuilder b;
  const int count = nodes / 3;
  const ValueId all = b.param("q", {DType::f64, {3 * count}});
  std::vector<ValueId> gradients;
  for (int i = 0; i < count; ++i) {
    const ValueId part = b.slice(all, {IndexItem::range(3 * i, 3 * i + 3)});
    gradients.push_back(b.scalar(ScalarOp::mul_, {part, b.scalar(ScalarOp::exp_, {part})}));
  }
  b.output(b.concat(gradients, 0));
  return std::move(b).finish();
}

/// Short vectors that are written into one, each into its own part.
Graph updates(int nodes) {
  GraphBuilder b;
  const int count = nodes / 3;
  const ValueId all = b.param("q", {DType::f64, {3 * count}});
  ValueId out = b.broadcast(b.literal(Literal::of_float(DType::f64, 0)), {3 * count});
  for (int i = 0; i < count; ++i) {
    const std::vector<IndexItem> region = {IndexItem::range(3 * i, 3 * i + 3)};
    out = b.update(Combine::set, out, region, b.scalar(ScalarOp::exp_, {b.slice(all, region)}));
  }
  b.output(out);
  return std::move(b).finish();
}

/// One softmax after the other: kernels of as many loops as one may have.
Graph softmaxes(int nodes) {
  GraphBuilder b;
  ValueId x = b.param("x", {DType::f64, {b.symbol("n")}});
  for (int i = 0; i < nodes / 3; ++i) {
    const ValueId e = b.scalar(ScalarOp::exp_, {x});
    x = b.scalar(ScalarOp::div_, {e, b.reduce(Fold::add, e, {0}, DType::f64)});
  }
  b.output(x);
  return std::move(b).finish();
}

/// Library calls, each with a loop before it.
Graph calls(int nodes) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  const ValueId a = b.param("a", {DType::f64, {n, n}});
  ValueId x = b.param("x", {DType::f64, {n, n}});
  for (int i = 0; i < nodes / 2; ++i) x = b.scalar(ScalarOp::tanh_, {linalg::matmul(b, a, x)});
  b.output(x);
  return std::move(b).finish();
}

/// What library calls make, put together: each is to be made in its place. (One for ten nodes: few programs have more.)
Graph placed(int nodes) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  std::vector<ValueId> factors;
  for (int i = 0; i < nodes / 10; ++i) {
    factors.push_back(b.library(LibraryOp::cholesky, {b.param(str("a", i), {DType::f64, {n, n}})})[0]);
  }
  b.output(b.concat(factors, 0));
  return std::move(b).finish();
}

/// One loop after the other, each over what the one before left, with a trace. (One for ten nodes.)
Graph loops(int nodes) {
  GraphBuilder b;
  const Dim n = b.symbol("n"), k = b.symbol("k");
  const ValueId weights = b.param("w", {DType::f64, {k, n}});
  ValueId x = b.param("x", {DType::f64, {n}});
  for (int i = 0; i < nodes / 10; ++i) {
    GraphBuilder body = b.body();
    const ValueId step = body.step("i", k);
    const ValueId carried = body.param("c", {DType::f64, {n}}), rows = body.param("w", {DType::f64, {k, n}});
    const ValueId row = body.gather(rows, {IndexItem::through(step)});
    const ValueId next = body.scalar(ScalarOp::sin_, {body.scalar(ScalarOp::mul_, {carried, row})});
    body.output(next);
    body.output(body.reduce(Fold::add, next, {0}, DType::f64));
    const std::vector<ValueId> results = b.loop(k, {x}, {weights}, std::move(body).finish());
    x = results[0];
    b.output(results[1]);
  }
  b.output(x);
  return std::move(b).finish();
}

constexpr GraphFamily kFamilies[] = {
    {"model", model},           {"chain", chain},         {"shared", shared}, {"wide_sum", wide_sum},
    {"reductions", reductions}, {"groupings", groupings}, {"parts", parts},   {"updates", updates},
    {"softmaxes", softmaxes},   {"calls", calls},         {"placed", placed}, {"loops", loops},
};

}  // namespace

std::span<const GraphFamily> graph_families() { return kFamilies; }

}  // namespace inlay
