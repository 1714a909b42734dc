#include "runtime/flat_function.h"

#include <cmath>
#include <limits>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/testdata/sample.h"
#include "runtime/trampoline.h"

namespace inlay::runtime {
namespace {

FlatSpec spec_of(Object object) {
  return {.executable = std::make_shared<const Executable>(std::move(object), sample::resolve), .params = {{}}};
}

/// The density of a vector of this length alone; -1: of any.
FlatSpec spec_of(int64_t dim) {
  Object object = sample::logp();
  if (dim >= 0) object.params[0].dims[0] = object.outputs[1].dims[0] = SizeExpr(dim);
  return spec_of(std::move(object));
}

TEST(Trampoline, BringsItsContextWhateverTheCallerPasses) {
  const auto target = +[](int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, const int64_t* context) {
    return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * *context;
  };
  const int64_t one = 1, two = 2;
  Trampoline first(reinterpret_cast<void*>(target), &one);
  const Trampoline second(reinterpret_cast<void*>(target), &two);
  using Function = int64_t (*)(int64_t, int64_t, int64_t, int64_t, int64_t);
  EXPECT_EQ(reinterpret_cast<Function>(first.address())(1, 2, 3, 4, 5), 154321);
  EXPECT_EQ(reinterpret_cast<Function>(second.address())(1, 2, 3, 4, 5), 254321);
  const Trampoline moved = std::move(first);
  EXPECT_EQ(reinterpret_cast<Function>(moved.address())(0, 0, 0, 0, 0), 100000);
}

TEST(FlatFunction, GivesLogpAndGradient) {
  const FlatFunction flat(spec_of(3));
  const double x[] = {1, 2, 3};
  double grad[3], logp = 0;
  ASSERT_EQ(flat.logp()(3, x, grad, &logp, nullptr), kFlatOk);
  EXPECT_EQ(logp, -7);
  EXPECT_THAT(grad, testing::ElementsAre(-1, -2, -3));
}

TEST(FlatFunction, TellsWhatTheSamplerMayTryAgainFromWhatIsWrong) {
  const FlatFunction flat(spec_of(2));
  double grad[2], logp = 0;
  const double infinite[] = {std::numeric_limits<double>::infinity(), 0}, failing[] = {1000, 0};
  const double nan[] = {0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(flat.logp()(2, infinite, grad, &logp, nullptr), kFlatLogpNotFinite);
  EXPECT_EQ(flat.logp()(2, nan, grad, &logp, nullptr), kFlatLogpNotFinite);
  EXPECT_EQ(flat.logp()(2, failing, grad, &logp, nullptr), kFlatFailed);
  EXPECT_EQ(flat.logp()(3, nan, grad, &logp, nullptr), kFlatWrongDim);
}

TEST(FlatFunction, NoticesAGradientThatIsNotFinite) {
  Object object = sample::logp();
  object.entry = "sample_nothing";  // sets the output that it takes for logp: output 0
  const FlatFunction flat(spec_of(std::move(object)));
  const double x[] = {1, 2};
  double grad[2] = {0, std::numeric_limits<double>::infinity()}, logp = 0;
  EXPECT_EQ(flat.logp()(2, x, grad, &logp, nullptr), kFlatGradNotFinite);
  EXPECT_EQ(logp, 2);
}

TEST(FlatFunction, TakesAnyLengthWhereItIsASymbol) {
  const FlatFunction flat(spec_of(-1));
  const double x[] = {1, 2, 3};
  for (std::size_t n : {0, 1, 3}) {
    double grad[3] = {7, 7, 7}, logp = 1;
    ASSERT_EQ(flat.logp()(n, x, grad, &logp, nullptr), kFlatOk);
    EXPECT_EQ(logp, n == 0 ? 0 : n == 1 ? -0.5 : -7);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(grad[i], i < n ? -x[i] : 7);
  }
}

TEST(FlatFunction, RefusesLengthsThatDoNotFit) {
  const auto with_gradient = [](std::vector<SizeItem> length) {
    Object object = sample::logp();
    object.outputs[1].dims[0].items = std::move(length);
    return spec_of(std::move(object));
  };
  const SizeItem n = {SizeItem::Kind::symbol, 0}, four = {SizeItem::Kind::constant, 4},
                 times = {SizeItem::Kind::multiply}, minus_6 = {SizeItem::Kind::constant, -6},
                 plus = {SizeItem::Kind::add};
  EXPECT_THROW(FlatFunction(with_gradient({n, four, times})), Error);    // 4 * n: never n
  EXPECT_THROW(FlatFunction(with_gradient({n, minus_6, plus})), Error);  // n - 6
  EXPECT_NO_THROW(FlatFunction(with_gradient({four})));
  const FlatFunction flat(with_gradient({n, four, times, minus_6, plus}));  // 4 * n - 6: n where it is 2
  double x = 1, grad = 7, logp = 7;
  EXPECT_EQ(flat.logp()(1, &x, &grad, &logp, nullptr), kFlatWrongDim);
  EXPECT_EQ(flat.logp()(std::size_t{1} << 62, &x, &grad, &logp, nullptr), kFlatOutOfMemory);
  EXPECT_THAT(flat.last_error().value_or(""),
              testing::HasSubstr("error[size-overflow]: x has 4611686018427387904 elements"));
  EXPECT_EQ(grad, 7);
}

TEST(FlatFunction, KnowsThatNoVectorIsLongerThanMemory) {
  const FlatFunction any(spec_of(-1)), two(spec_of(2));
  double x[2] = {}, grad[2] = {7, 7}, logp = 7;
  for (const std::size_t dim : {std::size_t{1} << 60, std::size_t{1} << 63, ~std::size_t{0}}) {
    EXPECT_EQ(any.logp()(dim, x, grad, &logp, nullptr), kFlatOutOfMemory) << dim;
    EXPECT_EQ(two.logp()(dim, x, grad, &logp, nullptr), kFlatWrongDim) << dim;
  }
  EXPECT_THAT(two.last_error().value_or(""), testing::HasSubstr("the given x has 18446744073709551615 elements"));
  EXPECT_EQ(grad[0], 7);
}

TEST(FlatFunction, ServesManyThreads) {
  const FlatFunction flat(spec_of(100));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<double> x(100, t);
      std::vector<double> grad(100);
      double logp = 0;
      for (int i = 0; i < 2000; ++i) {
        ASSERT_EQ(flat.logp()(100, x.data(), grad.data(), &logp, &i), kFlatOk);
        ASSERT_EQ(logp, -50.0 * t * t);
        ASSERT_EQ(grad, std::vector<double>(100, -t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FlatFunction, RefusesProgramsOfAnotherForm) {
  const auto message = [](auto change) -> std::string {
    Object object = sample::logp();
    object.params[0].dims[0] = object.outputs[1].dims[0] = SizeExpr(2);
    change(object);
    try {
      const FlatFunction flat(spec_of(std::move(object)));
    } catch (const Error& error) {
      return error.diagnostic().message;
    }
    return "taken";
  };
  const std::string form = str("no C function of the form ", flat_signature(FlatForm::logp), ": ");
  EXPECT_EQ(message([](Object&) {}), "taken");
  EXPECT_EQ(message([](Object& o) { o.params[0].dtype = "f32"; }), form + "the argument must be one f64 vector");
  EXPECT_EQ(message([](Object& o) { o.outputs.pop_back(); }),
            form + "it must have two outputs, the log density and its gradient");
  EXPECT_EQ(message([](Object& o) { o.outputs[1].dims[0] = SizeExpr(7); }),
            form + "the gradient must be as long as the argument");
  EXPECT_EQ(message([](Object& o) { o.outputs[0].dtype = "f32"; }), form + "the log density must be one f64");
}

TEST(FlatFunction, FindsDataInTheRecordOfEachCall) {
  struct Record {
    int64_t other;
    const double* address;
    int64_t size;
  };
  FlatSpec spec = spec_of(sample::expand());
  spec.form = FlatForm::expand;
  spec.params.resize(2);
  spec.data = {{.param = 1, .address_offset = offsetof(Record, address), .dims_offset = offsetof(Record, size)}};
  std::string told;
  spec.on_failure = [&](const Error& error) { told = error.diagnostic().message; };
  const FlatFunction flat(std::move(spec));
  const double x[] = {1, 2}, y[] = {3, 4, 5}, failing[] = {1000, 0};
  const Record two = {0, y + 1, 2}, three = {0, y, 3};
  double values[5] = {};
  ASSERT_EQ(flat.expand()(2, 5, x, values, &three), kFlatOk);
  EXPECT_THAT(values, testing::ElementsAre(1, 2, 3, 4, 5));
  ASSERT_EQ(flat.expand()(2, 4, x, values, &two), kFlatOk);
  EXPECT_THAT(values, testing::ElementsAre(1, 2, 4, 5, 5));
  EXPECT_EQ(flat.expand()(2, 5, x, values, &two), kFlatWrongDim);
  EXPECT_THAT(flat.last_error().value_or(""),
              testing::HasSubstr("the array for the result has 5 elements, and the result has 4"));
  EXPECT_EQ(flat.expand()(2, 5, x, values, nullptr), kFlatWrongDim);
  EXPECT_EQ(told, "no user_data");
  EXPECT_EQ(flat.expand()(2, 5, failing, values, &three), kFlatFailed);
  EXPECT_EQ(told, "x[0] is 1000");
  EXPECT_THAT(flat.last_error(), testing::Optional(testing::HasSubstr("x[0] is 1000")));
}

TEST(FlatFunction, ACallerThatDoesNotSurviveAFailureIsToldOfIt) {
  const double failing[] = {1000, 0}, y[] = {3};
  double grad[2] = {}, logp = 0, values[3] = {1, 2, 3};
  const TensorRef no_address;
  int64_t one = 1;
  int told = 0;
  FlatSpec spec = spec_of(sample::logp());
  spec.keeps_going = true;
  spec.on_failure = [&](const Error&) { ++told; };
  FlatSpec of_values = spec_of(sample::expand());
  of_values.form = FlatForm::expand;
  of_values.params = {no_address, {const_cast<double*>(y), &one}};
  of_values.keeps_going = true;
  of_values.on_failure = spec.on_failure;
  const FlatFunction flat(std::move(spec)), expand(std::move(of_values));
  EXPECT_EQ(flat.logp()(1, failing, grad, &logp, nullptr), kFlatPassedBy);
  EXPECT_EQ(flat.logp()(1, failing, grad, &logp, nullptr), kFlatPassedBy);
  EXPECT_EQ(told, 1) << "of the first alone";
  EXPECT_EQ(expand.expand()(2, 3, failing, values, nullptr), kFlatOk);
  EXPECT_EQ(told, 2);
  EXPECT_THAT(values, testing::Each(testing::IsNan()));
  EXPECT_THAT(flat.last_error(), testing::Optional(testing::HasSubstr("is 1000")));
}

TEST(FlatFunction, MayBeTriedElsewhereWhereAMatrixHasNoFactor) {
  Object object = sample::logp();
  object.sites[0].code = ErrorCode::factorization_failed;
  const FlatFunction flat(spec_of(std::move(object)));
  const double x[] = {1000};
  double grad = 0, logp = 0;
  EXPECT_EQ(flat.logp()(1, x, &grad, &logp, nullptr), kFlatNoFactor);
  EXPECT_EQ(flat.last_error(), std::nullopt);
}

}  // namespace
}  // namespace inlay::runtime
