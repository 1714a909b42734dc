#include "oracle/reference/evaluate.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.h"

namespace inlay::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Tensor bools(std::vector<int64_t> dims, std::initializer_list<bool> elements) {
  return tensor_of<bool>(DType::boolean, std::move(dims), elements);
}

/// The one output of a graph with these parameters and statements; its result is %r.
Tensor run(std::string_view params, std::string_view statements, std::vector<Tensor> inputs) {
  const Graph graph = parse(str("graph @main(", params, ") {\n", statements, "\nreturn %r }"));
  return evaluate(graph, inputs).at(0);
}

/// Like ==, with NaN equal to NaN and -0.0 other than 0.0.
void expect_elements(const Tensor& found, std::vector<int64_t> dims, const std::vector<double>& wanted) {
  ASSERT_EQ(found.dtype, DType::f64);
  ASSERT_EQ(found.dims, dims);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double value = found.get<double>(static_cast<int64_t>(i));
    const bool same = std::isnan(wanted[i]) ? std::isnan(value)
                                            : value == wanted[i] && std::signbit(value) == std::signbit(wanted[i]);
    EXPECT_TRUE(same) << "element " << i << " is " << value << ", not " << wanted[i];
  }
}

ErrorCode code_of(std::string_view params, std::string_view statements, std::vector<Tensor> inputs) {
  try {
    run(params, statements, std::move(inputs));
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

const Tensor kMatrix = f64({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Evaluate, Elementwise) {
  EXPECT_EQ(run("%x: f64[n], %y: f64[n]", "%r = add %x, %y", {f64({2}, {1, 2}), f64({2}, {10, 20})}),
            f64({2}, {11, 22}));
  EXPECT_EQ(run("%x: f64[n, 1], %y: f64[3]", "%r = mul %x, %y", {f64({2, 1}, {1, 2}), f64({3}, {1, 2, 3})}),
            f64({2, 3}, {1, 2, 3, 2, 4, 6}));
  EXPECT_EQ(run("%c: bool, %x: f64[n]", "%z = neg %x\n%r = select %c, %x, %z", {bools({}, {false}), f64({2}, {1, 2})}),
            f64({2}, {-1, -2}));
  EXPECT_EQ(run("%x: f64[n]", "%z = literal 2.0 : f64\n%r = ge %x, %z", {f64({3}, {1, 2, kNaN})}),
            bools({3}, {false, true, false}));
}

TEST(Evaluate, Views) {
  EXPECT_EQ(run("%x: f64[n, m]", "%r = transpose %x [1, 0]", {kMatrix}), f64({3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run("%x: f64[n, m]", "%r = flip %x [1]", {kMatrix}), f64({2, 3}, {3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(
      run("%x: f64[2, 3, 2]", "%r = diagonal %x [2, 0]", {f64({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}),
      f64({3, 2}, {0, 7, 2, 9, 4, 11}));
  EXPECT_EQ(run("%x: f64[n, m]", "%r = slice %x[1, 0:m:2]", {kMatrix}), f64({2}, {4, 6}));
  EXPECT_EQ(run("%x: f64[n, m]", "%r = reshape %x : f64[n * m]", {kMatrix}), f64({6}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run("%x: f64[n]", "%r = broadcast %x : f64[2, n]", {f64({2}, {1, 2})}), f64({2, 2}, {1, 2, 1, 2}));
  EXPECT_EQ(run("%x: c128[n]", "%r = flip %x [0]", {Tensor::zeros(DType::c128, {2})}).num_elements(), 2);
}

TEST(Evaluate, Gathers) {
  EXPECT_EQ(run("%x: f64[n], %i: i64[k]", "%r = gather %x[%i]", {f64({3}, {1, 2, 3}), i64({4}, {2, -1, 0, -3})}),
            f64({4}, {3, 3, 1, 1}));
  EXPECT_EQ(run("%x: f64[n, m], %i: i64[k]", "%r = gather %x[%i, 1:3]", {kMatrix, i64({1}, {1})}), f64({1, 2}, {5, 6}));
  EXPECT_EQ(run("%x: f64[n, m], %i: i64[k, 1], %j: i64[2]", "%r = gather %x[%i, %j]",
                {kMatrix, i64({2, 1}, {1, 0}), i64({2}, {0, 2})}),
            f64({2, 2}, {4, 6, 1, 3}));
  // A range between two arrays: their axis comes first.
  const Tensor cube = f64({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(run("%x: f64[a, b, c], %i: i64[k]", "%r = gather %x[%i, :, %i]", {cube, i64({2}, {0, 1})}),
            f64({2, 3}, {0, 2, 4, 7, 9, 11}));
  EXPECT_EQ(run("%x: f64[a, b, c], %i: i64[k]", "%r = gather %x[:, %i, %i]", {cube, i64({1}, {1})}),
            f64({2, 1}, {3, 9}));
}

TEST(Evaluate, Writes) {
  EXPECT_EQ(run("%x: f64[n], %v: f64[2]", "%r = update set %x[1:3], %v", {f64({4}, {1, 2, 3, 4}), f64({2}, {8, 9})}),
            f64({4}, {1, 8, 9, 4}));
  EXPECT_EQ(run("%x: f64[n, m], %v: f64", "%r = update add %x[:, 1], %v", {kMatrix, f64({}, {10})}),
            f64({2, 3}, {1, 12, 3, 4, 15, 6}));
  const std::vector<Tensor> repeated = {f64({3}, {1, 1, 1}), i64({3}, {0, 2, 0}), f64({3}, {5, 6, 7})};
  EXPECT_EQ(run("%x: f64[n], %i: i64[k], %v: f64[k]", "%r = scatter set %x[%i], %v", repeated), f64({3}, {7, 1, 6}));
  EXPECT_EQ(run("%x: f64[n], %i: i64[k], %v: f64[k]", "%r = scatter add %x[%i], %v", repeated), f64({3}, {13, 1, 7}));
  EXPECT_EQ(run("%x: f64[n], %i: i64[k], %v: f64[k]", "%r = scatter min %x[%i], %v", repeated), f64({3}, {1, 1, 1}));
}

TEST(Evaluate, Reductions) {
  EXPECT_EQ(run("%x: f64[n, m]", "%r = reduce add %x [0] : f64", {kMatrix}), f64({3}, {5, 7, 9}));
  EXPECT_EQ(run("%x: f64[n, m]", "%r = reduce mul %x [0, 1] : f64", {kMatrix}), f64({}, {720}));
  EXPECT_EQ(run("%x: f64[n, m]", "%r = reduce max %x [1] : f64", {kMatrix}), f64({2}, {3, 6}));
  EXPECT_EQ(run("%x: bool[n]", "%r = reduce add %x [0] : i64", {bools({3}, {true, false, true})}), i64({}, {2}));
  EXPECT_EQ(run("%x: bool[n]", "%r = reduce and %x [0] : bool", {bools({0}, {})}), bools({}, {true}));
  EXPECT_EQ(run("%x: f64[n]", "%r = reduce add %x [0] : f64", {f64({0}, {})}), f64({}, {0}));
  expect_elements(run("%x: f64[n]", "%r = reduce max %x [0] : f64", {f64({3}, {1, kNaN, 2})}), {}, {kNaN});
  EXPECT_EQ(run("%x: u8[n]", "%r = reduce max %x [0] : u8", {tensor_of<uint8_t>(DType::u8, {2}, {3, 200})}),
            tensor_of<uint8_t>(DType::u8, {}, {200}));
}

TEST(Evaluate, Others) {
  EXPECT_EQ(run("%x: f64[n], %y: f64[m]", "%r = concat 0 %x, %y, %x", {f64({1}, {1}), f64({2}, {2, 3})}),
            f64({4}, {1, 2, 3, 1}));
  EXPECT_EQ(
      run("%x: f64[2, n], %y: f64[2, m]", "%r = concat 1 %x, %y", {f64({2, 1}, {1, 2}), f64({2, 2}, {3, 4, 5, 6})}),
      f64({2, 3}, {1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(run("%x: f64[n]", "%r = iota n + 1 : i64", {f64({2}, {0, 0})}), i64({3}, {0, 1, 2}));
  EXPECT_EQ(run("%x: f64[n]", "%r = size 2*n", {f64({2}, {0, 0})}), i64({}, {4}));
  EXPECT_EQ(run("%x: f64[n, m], %y: f64[m]", "%r = matmul %x, %y", {kMatrix, f64({3}, {1, 0, 2})}), f64({2}, {7, 16}));
  EXPECT_EQ(run("%x: f64[n, m]", "%t = transpose %x [1, 0]\n%r = matmul %x, %t", {kMatrix}),
            f64({2, 2}, {14, 32, 32, 77}));
  EXPECT_EQ(run("%x: f64[n], %c: bool", "%r = assert %x, %c, \"no\"", {f64({1}, {1}), bools({}, {true})}),
            f64({1}, {1}));
}

TEST(Evaluate, HostCallsBindSizes) {
  const Graph graph = parse(
      "graph @main(%x: f64[n]) {\n%h = host_call \"positive\" (%x) : f64[k]\n%s = size k\n%r = add %h, %h\nreturn %r, "
      "%s }");
  const HostFunction positive = [](std::span<const Tensor>) -> std::vector<Tensor> { return {f64({2}, {3, 5})}; };
  const std::vector<Tensor> inputs = {f64({3}, {3, -1, 5})};
  EXPECT_THAT(evaluate(graph, inputs, std::vector<HostFunction>{positive}),
              testing::ElementsAre(f64({2}, {6, 10}), i64({}, {2})));
  EXPECT_THROW(evaluate(graph, inputs), Error);
}

// Corners, as NumPy has them.

TEST(EvaluateCorners, IntegersWrapAndDivideTowardsMinusInfinity) {
  const auto i8 = [](std::initializer_list<int8_t> v) {
    return tensor_of<int8_t>(DType::i8, {static_cast<int64_t>(v.size())}, v);
  };
  const auto binary = [&](std::string_view op, const Tensor& a, const Tensor& b) {
    return run("%x: i8[n], %y: i8[n]", str("%r = ", op, " %x, %y"), {a, b});
  };
  EXPECT_EQ(binary("add", i8({127}), i8({1})), i8({-128}));
  EXPECT_EQ(binary("mul", i8({100}), i8({3})), i8({44}));
  EXPECT_EQ(binary("floor_div", i8({7, -7, 7, -128, 5}), i8({-2, 2, 0, -1, 3})), i8({-4, -4, 0, -128, 1}));
  EXPECT_EQ(binary("mod", i8({7, -7, 7, -128, 5}), i8({-2, 2, 0, -1, 3})), i8({-1, 1, 0, 0, 2}));
  EXPECT_EQ(binary("pow", i8({2, -3, 5}), i8({7, 3, 0})), i8({-128, -27, 1}));
  EXPECT_EQ(run("%x: i8[n]", "%r = neg %x", {i8({-128})}), i8({-128}));
  EXPECT_EQ(run("%x: i8[n]", "%r = abs %x", {i8({-128, -3})}), i8({-128, 3}));
  EXPECT_EQ(run("%x: i8[n]", "%r = not %x", {i8({0, 5})}), i8({-1, -6}));
  const int64_t minimum = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(run("%x: i64[n], %y: i64[n]", "%r = floor_div %x, %y", {i64({1}, {minimum}), i64({1}, {-1})}),
            i64({1}, {minimum}));
  EXPECT_EQ(code_of("%x: i8[n], %y: i8[n]", "%r = pow %x, %y", {i8({2}), i8({-1})}), ErrorCode::negative_power);
}

TEST(EvaluateCorners, Floats) {
  const auto binary = [](std::string_view op, double a, double b) {
    return run("%x: f64, %y: f64", str("%r = ", op, " %x, %y"), {f64({}, {a}), f64({}, {b})});
  };
  expect_elements(binary("mod", -0.0, 2), {}, {0.0});
  expect_elements(binary("mod", 7.5, -2), {}, {-0.5});
  expect_elements(binary("mod", 1, 0), {}, {kNaN});
  expect_elements(binary("floor_div", 1, 0), {}, {kInf});
  expect_elements(binary("floor_div", -7, 2), {}, {-4});
  expect_elements(binary("floor_div", 1, 0.1), {}, {9});
  expect_elements(binary("max", kNaN, 1), {}, {kNaN});
  expect_elements(binary("min", 1, kNaN), {}, {kNaN});
  const auto unary = [](std::string_view op, double a) {
    return run("%x: f64", str("%r = ", op, " %x"), {f64({}, {a})});
  };
  expect_elements(unary("round", 0.5), {}, {0.0});
  expect_elements(unary("round", 2.5), {}, {2.0});
  expect_elements(unary("round", -0.5), {}, {-0.0});
  expect_elements(unary("sign", -0.0), {}, {0.0});
  expect_elements(unary("sign", kNaN), {}, {kNaN});
  expect_elements(unary("log", 0), {}, {-kInf});
  expect_elements(unary("sigmoid", -1000), {}, {0.0});
  expect_elements(unary("softplus", 1000), {}, {1000});
  expect_elements(unary("softplus", -kInf), {}, {0});
  EXPECT_NEAR(unary("log1mexp", -1e-20).get<double>(0), std::log(1e-20), 1e-12);
}

TEST(EvaluateCorners, CastsToIntegers) {
  const auto to_i8 = [](double x) { return run("%x: f64", "%r = cast %x : i8", {f64({}, {x})}).get<int8_t>(0); };
  EXPECT_EQ(to_i8(300), 44);
  EXPECT_EQ(to_i8(-1.7), -1);
  EXPECT_EQ(to_i8(kInf), 0);
  EXPECT_EQ(run("%x: f64", "%r = cast %x : u8", {f64({}, {-1.7})}).get<uint8_t>(0), 255);
  EXPECT_EQ(run("%x: f64", "%r = cast %x : u64", {f64({}, {1.8e19})}).get<uint64_t>(0), 18000000000000000000U);
  EXPECT_EQ(run("%x: f64", "%r = cast %x : bool", {f64({}, {kNaN})}).get<bool>(0), true);
  EXPECT_EQ(code_of("%x: f64", "%r = cast %x : i64", {f64({}, {kNaN})}), ErrorCode::nan_to_integer);
}

// What goes wrong, with the numbers.

std::string message_of(std::string_view params, std::string_view statements, std::vector<Tensor> inputs) {
  try {
    run(params, statements, std::move(inputs));
  } catch (const Error& error) {
    return error.diagnostic().message;
  }
  return "";
}

TEST(EvaluateErrors, NameTheNumbers) {
  const Tensor x = f64({3}, {1, 2, 3});
  EXPECT_EQ(message_of("%x: f64[n], %i: i64[k]", "%r = gather %x[%i]", {x, i64({2}, {0, 3})}),
            "gather: index 3 is out of bounds for axis 0 with size 3");
  EXPECT_EQ(message_of("%x: f64[n], %i: i64[k]", "%r = scatter add %x[%i], %x", {x, i64({3}, {0, -4, 1})}),
            "scatter: index -4 is out of bounds for axis 0 with size 3");
  EXPECT_EQ(message_of("%x: f64[n], %y: f64[m]", "%r = add %x, %y", {x, f64({2}, {1, 2})}),
            "add: dim 0 is 3 on the left and 2 on the right");
  EXPECT_EQ(message_of("%x: f64[n], %y: f64[n]", "%r = add %x, %y", {x, f64({2}, {1, 2})}),
            "%y: dim 0 is 2, but n is 3");
  EXPECT_EQ(message_of("%x: f64[n]", "%r = slice %x[0:4]", {x}), "slice: axis 0 ends at 4, beyond its size, 3");
  EXPECT_EQ(message_of("%x: f64[n]", "%r = reduce max %x [0] : f64", {f64({0}, {})}), "reduce max: of no elements");
  EXPECT_EQ(message_of("%x: f64[n], %c: bool", "%r = assert %x, %c, \"x > 0\"", {x, bools({}, {false})}), "x > 0");
  EXPECT_EQ(message_of("%x: f64[n]", "%r = exp %x", {i64({1}, {1})}), "%x: dtype is i64, not f64");
  EXPECT_EQ(message_of("%x: f64[n]", "%r = exp %x", {f64({}, {1})}), "%x: rank is 0, not 1");
  EXPECT_EQ(message_of("%x: f64[4]", "%r = exp %x", {x}), "%x: dim 0 is 3, but 4 is wanted");
  EXPECT_EQ(message_of("%x: f64[n]", "%r = exp %x", {}), "main: takes 1 argument, not 0");
}

}  // namespace
}  // namespace inlay::reference
