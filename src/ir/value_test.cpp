#include "ir/value.h"

#include <functional>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "ir/text.h"

namespace {

using inlay::all;
using inlay::ArrayProgram;
using inlay::Dim;
using inlay::DType;
using inlay::from;
using inlay::Keep;
using inlay::range;
using inlay::until;
using inlay::Value;

/// What the statements of the program are, without the types.
std::string statements(ArrayProgram& p) {
  const std::string text = print(p.finish(), {.types = inlay::Show::no});
  const std::size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind('}') - begin);
}

TEST(Value, OperatorsAndFunctionsMakeNodes) {
  ArrayProgram p;
  const Dim n = p.symbol("n"), m = p.symbol("m");
  const Value x = p.param("x", DType::f64, {n, m}), w = p.param("w", DType::f64, {m});
  const Value e = exp(x - max(x, 1, Keep::yes));
  const Value shares = e / sum(e, -1, Keep::yes);
  p.output(shares + w, "y");
  p.output(2 * w, "twice");
  p.output(where(x > 0, x, -1.5), "z");
  p.output(mean(x) / n, "mean");
  EXPECT_EQ(statements(p), R"(  %2 = reduce max %x [1] : f64[n]
  %3 = reshape %2 : f64[n, 1]
  %4 = sub %x, %3
  %5 = exp %4
  %6 = reduce add %5 [1] : f64[n]
  %7 = reshape %6 : f64[n, 1]
  %8 = div %5, %7
  %9 = add %8, %w
  %10 = literal 2.0 : f64
  %11 = mul %10, %w
  %12 = literal 0.0 : f64
  %13 = gt %x, %12
  %14 = literal -1.5 : f64
  %15 = select %13, %x, %14
  %16 = reduce add %x [0, 1] : f64
  %17 = size n*m
  %18 = cast %17 : f64
  %19 = div %16, %18
  %20 = size n
  %21 = cast %20 : f64
  %22 = div %19, %21
  return y = %9, twice = %11, z = %15, mean = %22
)");
}

TEST(Value, BracketsReadAndUpdateWrites) {
  ArrayProgram p;
  const Dim n = p.symbol("n");
  const Value x = p.param("x", DType::f64, {n, 5}), i = p.param("i", DType::i64, {3});
  p.output(x[0]);
  p.output(x[n - 2]);
  p.output(x[{-1, 2}]);
  p.output(x[from(1)]);
  p.output(x[{all, range(1, -1)}]);
  p.output(x[{until(n - 1), range(0, 5, 2)}]);
  p.output(x[{all, from(4, -1)}]);
  p.output(x[i]);
  p.output(update(x, {all, 0}, 1));
  p.output(update(x, i, 1.5, inlay::Combine::add));
  EXPECT_EQ(statements(p), R"(  %2 = slice %x[0, 0:5]
  %3 = slice %x[n - 2, 0:5]
  %4 = slice %x[n - 1, 2]
  %5 = slice %x[1:n, 0:5]
  %6 = slice %x[0:n, 1:4]
  %7 = slice %x[0:n - 1, 0:5:2]
  %8 = flip %x [1]
  %9 = gather %x[%i, 0:5]
  %10 = literal 1.0 : f64
  %11 = update set %x[0:n, 0], %10
  %12 = literal 1.5 : f64
  %13 = scatter add %x[%i, 0:5], %12
  return %2, %3, %4, %5, %6, %7, %8, %9, %11, %13
)");
}

/// The place that the error names, without the folders.
template <class Make>
std::string place_of_error(const Make& make) {
  try {
    make();
  } catch (const inlay::Error& error) {
    const std::string& text = error.diagnostic().location.text;
    return text.substr(text.rfind('/') + 1);
  }
  return "no error";
}

std::string at_line(int line) { return inlay::str("value_test.cpp:", line); }

TEST(Value, ErrorsNameTheLineOfTheCall) {
  ArrayProgram p, q;
  const Value x = p.param("x", DType::f64, {3}), y = p.param("y", DType::f64, {4}),
              foreign = q.param("z", DType::f64, {3});
  Value changing = x;
  EXPECT_EQ(place_of_error([&] { x + y; }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { y* x; }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { changing += y; }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { pow(x, y); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { sum(x, 1); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { x[7]; }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { x[{all, 1}]; }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { update(x, 0, y); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { matmul(x, y); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { inlay::einsum("i,i->", {x, y}); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { inlay::concat({x, y}, 1); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { cast(x, DType::i64) * 0.5; }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { inlay::sum(3.0); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { p.param("s", DType::f64, {-1}); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { p.output(foreign); }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { x + foreign; }), at_line(__LINE__));
  EXPECT_EQ(place_of_error([&] { where(x > 0, x, foreign); }), at_line(__LINE__));
}

TEST(Value, APositionBeyondTheBeginningIsSaidAsItWasWritten) {
  ArrayProgram p;
  const Value x = p.param("x", DType::f64, {3});
  const auto said = [](const auto& make) {
    try {
      make();
    } catch (const inlay::Error& error) {
      return error.diagnostic().message + error.diagnostic().help;
    }
    return std::string("no error");
  };
  EXPECT_EQ(said([&] { x[-4]; }), "index -4 is out of bounds for axis 0 with size 3");
  EXPECT_EQ(said([&] { x[from(-5)]; }), "axis 0 begins at -5, and its size is 3");
  EXPECT_EQ(said([&] { x[until(-4)]; }), "axis 0 ends at -4, and its size is 3");
  EXPECT_EQ(said([&] { update(x, -4, 1); }), "index -4 is out of bounds for axis 0 with size 3");
  EXPECT_EQ(said([&] { x[-3]; }), "no error");
}

TEST(Value, NodesKnowTheirLine) {
  ArrayProgram p;
  const Value x = p.param("x", DType::f64, {3});
  const int line = __LINE__ + 1;
  p.output(exp(x));
  const inlay::Graph graph = p.finish();
  EXPECT_TRUE(graph.nodes[inlay::NodeId(0)].location.text.ends_with(at_line(line)));
}

TEST(Value, NumbersTakeTheDtypeBesideThem) {
  ArrayProgram p;
  const Value x = p.param("x", DType::f32, {3}), i = p.param("i", DType::i8, {3});
  EXPECT_EQ((x + 1).dtype(), DType::f32);
  EXPECT_EQ((1 / x).dtype(), DType::f32);
  EXPECT_EQ((i + 127).dtype(), DType::i8);
  EXPECT_EQ(where(i > 3, 0.5, x).dtype(), DType::f32);
  EXPECT_THROW(i + 128, inlay::Error);
  EXPECT_THROW(i + 0.5, inlay::Error);
  EXPECT_THROW(i + -129, inlay::Error);
}

TEST(Value, LoopsAndConditionsTakeFunctions) {
  ArrayProgram p;
  const Dim n = p.symbol("n");
  const Value x = p.param("x", DType::f64, {n}), w = p.param("w", DType::f64, {n});
  const std::vector<Value> all_steps =
      p.loop(n, {x}, {w}, [](const Value& step, std::span<const Value> carried, std::span<const Value> captured) {
        const Value next = carried[0] * captured[0];
        const Value number = cast(step, DType::f64);
        return std::vector{next, sum(next), number};
      });
  const std::vector<Value> chosen = p.cond(
      sum(x) > 0, {x}, [](std::span<const Value> in) { return std::vector{exp(in[0])}; },
      [](std::span<const Value> in) { return std::vector{in[0]}; });
  p.output(all_steps[0]);
  p.output(all_steps[1]);
  p.output(all_steps[2]);
  p.output(chosen[0]);
  EXPECT_EQ(statements(p), R"(  %2, %3, %4 = loop %0 < n carry (%1 = %x) with (%2 = %w) {
    %3 = mul %1, %2
    %4 = cast %0 : f64
    %5 = reduce add %3 [0] : f64
    return %3 trace %5, %4
  }
  %5 = reduce add %x [0] : f64
  %6 = literal 0.0 : f64
  %7 = gt %5, %6
  %8 = cond %7 with (%0 = %x) {
    %1 = exp %0
    return %1
  } else {
    return %0
  }
  return %2, %3, %4, %8
)");
  // What comes in is named: a body knows no other value.
  ArrayProgram q;
  const Value y = q.param("y", DType::f64, {3});
  EXPECT_THROW(q.loop(3, {y}, {}, [&](const Value&, std::span<const Value> c, auto) { return std::vector{c[0] * y}; }),
               inlay::Error);
}

TEST(Value, EveryScalarOpHasAFunctionOrAnOperator) {
  std::set<std::string> named = {"neg", "add", "sub",        "mul",         "div",    "mod",   "max", "min",
                                 "eq",  "ne",  "lt",         "le",          "gt",     "ge",    "and", "or",
                                 "xor", "not", "left_shift", "right_shift", "hyp2f1", "select"};
#define NAME(name) named.insert(#name);
  INLAY_FUNCTIONS_OF_1(NAME)
  INLAY_FUNCTIONS_OF_2(NAME)
  INLAY_FUNCTIONS_OF_3(NAME)
#undef NAME
  std::set<std::string> ops;
#define SCALAR_OP(name, ...) ops.insert(#name);
#include "ops/scalar_ops.def"
#undef SCALAR_OP
  EXPECT_EQ(named, ops);
}

TEST(Value, OpsOfNoValuesAreRefused) {
  for (const auto& make : std::initializer_list<std::function<void()>>{
           [] { inlay::concat({}, 0); }, [] { inlay::stack({}, 0); }, [] { inlay::einsum("->", {}); },
           [] { inlay::compose("roll", {}); }, [] { inlay::library_op(inlay::LibraryOp::cholesky, {}); }}) {
    try {
      make();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const inlay::Error& error) {
      EXPECT_EQ(error.code(), inlay::ErrorCode::wrong_arity);
    }
  }
}

TEST(Value, ANumberBeyondInt64BesideAFloatIsItself) {
  ArrayProgram p;
  const Value x = p.param("x", DType::f64, {3});
  p.output(x + std::numeric_limits<uint64_t>::max(), "y");
  EXPECT_NE(statements(p).find("literal 18446744073709551616.0 : f64"), std::string::npos);
}

}  // namespace
