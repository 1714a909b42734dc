#include "ir/builder.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay {
namespace {

template <class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.diagnostic().message;
  }
  return "";
}

TEST(GraphBuilder, ValuesAndSymbolsOfAnotherAreRefused) {
  GraphBuilder one, other;
  const Dim n = one.symbol("n");
  const ValueId x = one.param("x", {DType::f64, {n}});
  const ValueId y = one.scalar(ScalarOp::exp_, {x});
  const std::string wrong = "a value that is not of this builder";
  EXPECT_EQ(error_of([&] { other.scalar(ScalarOp::exp_, {y}); }), wrong);
  EXPECT_EQ(error_of([&] { other.reduce(Combine::add, y, {0}, DType::f64); }), wrong);
  EXPECT_EQ(error_of([&] { other.output(y, "y"); }), wrong);
  EXPECT_EQ(error_of([&] { one.output(ValueId(), "none"); }), wrong);
  EXPECT_EQ(error_of([&] { other.param("x", {DType::f64, {n}}); }),
            "parameter x: a symbol that is not of this builder");
}

}  // namespace
}  // namespace inlay
