#include "runtime/flat_function.h"

#include <limits>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/testdata/sample.h"

namespace inlay::runtime {
namespace {

FlatLogpSpec spec_of(int64_t dim) {
  return {.executable = std::make_shared<const Executable>(sample::logp(), sample::resolve),
          .params = {nullptr},
          .symbols = {dim},
          .dim = dim};
}

TEST(Trampoline, BringsItsContextWhateverTheCallerPasses) {
  const auto target = +[](int64_t a, int64_t b, int64_t c, int64_t d, const int64_t* context) {
    return a + 10 * b + 100 * c + 1000 * d + 10000 * *context;
  };
  const int64_t one = 1, two = 2;
  Trampoline first(reinterpret_cast<void*>(target), &one);
  const Trampoline second(reinterpret_cast<void*>(target), &two);
  using Function = int64_t (*)(int64_t, int64_t, int64_t, int64_t, const void*);
  EXPECT_EQ(reinterpret_cast<Function>(first.address())(1, 2, 3, 4, nullptr), 14321);
  EXPECT_EQ(reinterpret_cast<Function>(second.address())(1, 2, 3, 4, &one), 24321);
  const Trampoline moved = std::move(first);
  EXPECT_EQ(reinterpret_cast<Function>(moved.address())(0, 0, 0, 0, nullptr), 10000);
}

TEST(FlatLogp, GivesLogpAndGradient) {
  const FlatLogp flat(spec_of(3));
  const double x[] = {1, 2, 3};
  double grad[3], logp = 0;
  ASSERT_EQ(flat.function()(3, x, grad, &logp, nullptr), kFlatOk);
  EXPECT_EQ(logp, -7);
  EXPECT_THAT(grad, testing::ElementsAre(-1, -2, -3));
}

TEST(FlatLogp, TellsWhatTheSamplerMayTryAgainFromWhatIsWrong) {
  const FlatLogp flat(spec_of(2));
  double grad[2], logp = 0;
  const double infinite[] = {std::numeric_limits<double>::infinity(), 0}, failing[] = {1000, 0};
  const double nan[] = {0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(flat.function()(2, infinite, grad, &logp, nullptr), kFlatLogpNotFinite);
  EXPECT_EQ(flat.function()(2, nan, grad, &logp, nullptr), kFlatLogpNotFinite);
  EXPECT_EQ(flat.function()(2, failing, grad, &logp, nullptr), kFlatFailed);
  EXPECT_EQ(flat.function()(3, nan, grad, &logp, nullptr), kFlatWrongDim);
}

TEST(FlatLogp, NoticesAGradientThatIsNotFinite) {
  Object object = sample::logp();
  object.entry = "sample_nothing";  // sets the output that it takes for logp: output 0
  FlatLogpSpec spec = spec_of(2);
  spec.executable = std::make_shared<const Executable>(object, sample::resolve);
  const FlatLogp flat(std::move(spec));
  const double x[] = {1, 2};
  double grad[2] = {0, std::numeric_limits<double>::infinity()}, logp = 0;
  EXPECT_EQ(flat.function()(2, x, grad, &logp, nullptr), kFlatGradNotFinite);
  EXPECT_EQ(logp, 2);
}

TEST(FlatLogp, TakesAnyLengthWhereItIsASymbol) {
  FlatLogpSpec spec = spec_of(0);
  spec.x_symbol = 0;
  const FlatLogp flat(std::move(spec));
  const double x[] = {1, 2, 3};
  for (std::size_t n : {0, 1, 3}) {
    double grad[3] = {7, 7, 7}, logp = 1;
    ASSERT_EQ(flat.function()(n, x, grad, &logp, nullptr), kFlatOk);
    EXPECT_EQ(logp, n == 0 ? 0 : n == 1 ? -0.5 : -7);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(grad[i], i < n ? -x[i] : 7);
  }
}

TEST(FlatLogp, RefusesLengthsThatDoNotFit) {
  const auto with_gradient = [](std::vector<SizeItem> length) {
    Object object = sample::logp();
    object.outputs[1].dims[0].items = std::move(length);
    FlatLogpSpec spec = spec_of(0);
    spec.executable = std::make_shared<const Executable>(object, sample::resolve);
    spec.x_symbol = 0;
    return spec;
  };
  const SizeItem n = {SizeItem::Kind::symbol, 0}, four = {SizeItem::Kind::constant, 4},
                 times = {SizeItem::Kind::multiply}, minus_6 = {SizeItem::Kind::constant, -6},
                 plus = {SizeItem::Kind::add};
  EXPECT_THROW(FlatLogp(with_gradient({n, four, times})), Error);    // 4 * n: never n
  EXPECT_THROW(FlatLogp(with_gradient({n, minus_6, plus})), Error);  // n - 6
  EXPECT_NO_THROW(FlatLogp(with_gradient({four})));
  const FlatLogp flat(with_gradient({n, four, times, minus_6, plus}));  // 4 * n - 6: n where it is 2
  double x = 1, grad = 7, logp = 7;
  EXPECT_EQ(flat.function()(1, &x, &grad, &logp, nullptr), kFlatWrongDim);
  EXPECT_EQ(flat.function()(std::size_t{1} << 62, &x, &grad, &logp, nullptr), kFlatWrongDim);
  EXPECT_EQ(grad, 7);
}

TEST(FlatLogp, ServesManyThreads) {
  const FlatLogp flat(spec_of(100));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<double> x(100, t);
      std::vector<double> grad(100);
      double logp = 0;
      for (int i = 0; i < 2000; ++i) {
        ASSERT_EQ(flat.function()(100, x.data(), grad.data(), &logp, &i), kFlatOk);
        ASSERT_EQ(logp, -50.0 * t * t);
        ASSERT_EQ(grad, std::vector<double>(100, -t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FlatLogp, RefusesProgramsOfAnotherForm) {
  const auto message = [](auto change) -> std::string {
    Object object = sample::logp();
    FlatLogpSpec spec = spec_of(2);
    change(object, spec);
    spec.executable = std::make_shared<const Executable>(object, sample::resolve);
    try {
      FlatLogp flat(std::move(spec));
    } catch (const Error& error) {
      return error.diagnostic().message;
    }
    return "taken";
  };
  const std::string form = str("no C function of the form ", kFlatLogpSignature, ": ");
  EXPECT_EQ(message([](Object&, FlatLogpSpec&) {}), "taken");
  EXPECT_EQ(message([](Object& o, FlatLogpSpec&) { o.params[0].dtype = "f32"; }),
            form + "the argument must be one f64 vector");
  EXPECT_EQ(message([](Object& o, FlatLogpSpec&) { o.outputs.pop_back(); }),
            form + "it must have two outputs, the log density and its gradient");
  EXPECT_EQ(message([](Object& o, FlatLogpSpec&) { o.outputs[1].dims[0] = SizeExpr(7); }),
            form + "the gradient must be as long as the argument");
  EXPECT_EQ(message([](Object& o, FlatLogpSpec&) { o.outputs[0].dtype = "f32"; }),
            form + "the log density must be one f64");
}

}  // namespace
}  // namespace inlay::runtime
