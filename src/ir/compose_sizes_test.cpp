#include "ir/compose_sizes.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/reference/evaluate.h"

namespace inlay {
namespace {

using reference::f64;
using reference::i64;
using reference::Tensor;
using reference::tensor_of;

Tensor bools(std::vector<int64_t> dims, std::initializer_list<bool> elements) {
  return tensor_of<bool>(DType::boolean, std::move(dims), elements);
}

/// What `make` composes of parameters with the dtypes and ranks of `inputs`, evaluated.
using Make = std::function<std::vector<ValueId>(GraphBuilder&, std::vector<ValueId>)>;
std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Make& make) {
  GraphBuilder b;
  std::vector<ValueId> params;
  for (const Tensor& input : inputs) {
    TensorType type{input.dtype, {}};
    for (int axis = 0; axis < input.rank(); ++axis) type.dims.push_back(b.symbol(str("n", b.graph().symbols.size())));
    params.push_back(b.param(str("p", params.size()), std::move(type)));
  }
  for (ValueId v : make(b, params)) b.output(v);
  return reference::evaluate(std::move(b).finish(), inputs);
}

std::string error_of(const std::vector<Tensor>& inputs, const Make& make) {
  try {
    run(inputs, make);
  } catch (const Error& error) {
    return str("error[", code_name(error.code()), "]: ", error.diagnostic().message);
  }
  return "none";
}

Tensor arange_of(std::vector<Tensor> inputs, DType dtype) {
  return run(inputs, [&](GraphBuilder& b, std::vector<ValueId> p) {
    return std::vector{arange(b, p[0], p[1], p[2], dtype)};
  })[0];
}

Tensor integer(int64_t value) { return i64({}, {value}); }
Tensor number(double value) { return f64({}, {value}); }

TEST(ARange, ReachesUpToTheStop) {
  EXPECT_EQ(arange_of({integer(2), integer(9), integer(3)}, DType::i64), i64({3}, {2, 5, 8}));
  EXPECT_EQ(arange_of({integer(2), integer(8), integer(3)}, DType::i64), i64({2}, {2, 5}));
  EXPECT_EQ(arange_of({integer(1), integer(-3), integer(-2)}, DType::i64), i64({2}, {1, -1}));
  EXPECT_EQ(arange_of({integer(4), integer(4), integer(1)}, DType::i64), i64({0}, {}));
  EXPECT_EQ(arange_of({integer(4), integer(1), integer(1)}, DType::f64), f64({0}, {}));
  EXPECT_EQ(arange_of({number(0.5), number(2), integer(1)}, DType::f64), f64({2}, {0.5, 1.5}));
  EXPECT_EQ(arange_of({number(0), number(-1), number(-0.25)}, DType::f64), f64({4}, {0, -0.25, -0.5, -0.75}));
}

TEST(ARange, SaysWhyItHasNoLength) {
  const Make make = [](GraphBuilder& b, std::vector<ValueId> p) {
    return std::vector{arange(b, p[0], p[1], p[2], DType::f64)};
  };
  EXPECT_EQ(error_of({integer(0), integer(3), integer(0)}, make), "error[zero-step]: arange: the step is 0");
  EXPECT_EQ(error_of({number(0), number(3), number(0)}, make), "error[zero-step]: arange: the step is 0");
  EXPECT_EQ(error_of({number(0), number(std::nan("")), number(1)}, make), "error[nan-to-integer]: cast: NaN to i64");
  EXPECT_EQ(error_of({f64({1}, {0}), number(3), number(1)}, make),
            "error[wrong-rank]: arange: the start is f64[n0], not a 0-d number");
}

TEST(NonZero, GivesTheCoordinatesInOrder) {
  const Tensor x = f64({2, 3}, {0, 1, std::nan(""), -0.0, 2, 0});
  const auto found = run({x}, [](GraphBuilder& b, std::vector<ValueId> p) { return nonzero(b, p[0]); });
  EXPECT_EQ(found, (std::vector{i64({3}, {0, 0, 1}), i64({3}, {1, 2, 1})}));
  EXPECT_EQ(error_of({number(1)}, [](GraphBuilder& b, std::vector<ValueId> p) { return nonzero(b, p[0]); }),
            "error[wrong-rank]: nonzero: of a 0-d value");
}

TEST(Where, ReadsElementsAndRows) {
  const Tensor x = f64({2, 2}, {1, 2, 3, 4});
  const Make make = [](GraphBuilder& b, std::vector<ValueId> p) { return std::vector{read_where(b, p[0], p[1])}; };
  EXPECT_EQ(run({x, bools({2, 2}, {true, false, true, true})}, make)[0], f64({3}, {1, 3, 4}));
  EXPECT_EQ(run({x, bools({2}, {false, true})}, make)[0], f64({1, 2}, {3, 4}));
  EXPECT_EQ(run({x, bools({2}, {false, false})}, make)[0], f64({0, 2}, {}));
  EXPECT_EQ(error_of({x, bools({3}, {true, false, true})}, make),
            "error[shape-mismatch]: broadcast: dim 0 is 3, not 2");
  EXPECT_EQ(error_of({x, x}, make), "error[wrong-dtype]: a mask f64[n2, n3] of f64[n0, n1]");
  EXPECT_EQ(error_of({x, bools({}, {true})}, make), "error[wrong-rank]: a mask bool of f64[n0, n1]");
}

TEST(Where, WritesOneValueOrOneForEach) {
  const Tensor x = f64({2, 2}, {1, 2, 3, 4}), mask = bools({2, 2}, {true, false, true, true}),
               rows = bools({2}, {false, true});
  const auto make = [](Combine combine) {
    return
        [=](GraphBuilder& b, std::vector<ValueId> p) { return std::vector{write_where(b, combine, p[0], p[1], p[2])}; };
  };
  EXPECT_EQ(run({x, mask, number(9)}, make(Combine::set))[0], f64({2, 2}, {9, 2, 9, 9}));
  EXPECT_EQ(run({x, mask, f64({3}, {7, 8, 9})}, make(Combine::set))[0], f64({2, 2}, {7, 2, 8, 9}));
  EXPECT_EQ(run({x, rows, f64({2}, {7, 8})}, make(Combine::add))[0], f64({2, 2}, {1, 2, 10, 12}));
  EXPECT_EQ(run({x, rows, f64({1, 2}, {7, 8})}, make(Combine::mul))[0], f64({2, 2}, {1, 2, 21, 32}));
  EXPECT_EQ(error_of({x, mask, f64({2}, {7, 8})}, make(Combine::set)),
            "error[shape-mismatch]: scatter: the value's dim 0 is 2, the region's is 3");
}

TEST(Repeat, ByOneCountOrOneForEach) {
  const Tensor x = f64({2, 2}, {1, 2, 3, 4});
  const auto by = [](int axis) {
    return [=](GraphBuilder& b, std::vector<ValueId> p) {
      return std::vector{b.type(p[1]).rank() ? repeat_each(b, p[0], p[1], axis) : repeat(b, p[0], p[1], axis)};
    };
  };
  EXPECT_EQ(run({x, integer(2)}, by(1))[0], f64({2, 4}, {1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(run({x, integer(0)}, by(0))[0], f64({0, 2}, {}));
  EXPECT_EQ(run({x, i64({2}, {0, 2})}, by(0))[0], f64({2, 2}, {3, 4, 3, 4}));
  EXPECT_EQ(run({x, i64({2}, {1, 0})}, by(1))[0], f64({2, 1}, {1, 3}));
  EXPECT_EQ(error_of({x, integer(-1)}, by(0)), "error[negative-size]: as_size: a size of -1");
  EXPECT_EQ(error_of({x, i64({2}, {1, -1})}, by(0)), "error[negative-size]: repeat: a count is negative");
  EXPECT_EQ(error_of({x, integer(1)}, by(2)), "error[axis-out-of-range]: repeat: axis 2 of a rank 2 value");
}

TEST(Unique, IsSortedAndCounts) {
  const Make make = [](GraphBuilder& b, std::vector<ValueId> p) {
    const Unique found = unique(b, p[0]);
    return std::vector{found.values, found.first, found.inverse, found.counts};
  };
  EXPECT_EQ(run({i64({2, 3}, {3, 1, 3, 2, 1, 3})}, make),
            (std::vector{i64({3}, {1, 2, 3}), i64({3}, {1, 3, 0}), i64({6}, {2, 0, 2, 1, 0, 2}), i64({3}, {2, 1, 3})}));
  EXPECT_EQ(run({f64({0}, {})}, make), (std::vector{f64({0}, {}), i64({0}, {}), i64({0}, {}), i64({0}, {})}));
  const double nan = std::nan("");
  const std::vector<Tensor> with_nan = run({f64({4}, {nan, 1, nan, 1})}, make);
  EXPECT_EQ(with_nan[1], i64({2}, {1, 0}));
  EXPECT_EQ(with_nan[3], i64({2}, {2, 2}));
}

}  // namespace
}  // namespace inlay
