// The elementary functions of both backends: the same numbers to the last bit, since both have them from one source.
#include <bit>
#include <cstdlib>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "compiler/backends.h"
#include "inlay/inlay.h"

namespace inlay {
namespace {

constexpr ScalarOp kOfOne[] = {
    ScalarOp::exp_,      ScalarOp::exp2_,    ScalarOp::expm1_,   ScalarOp::log_,      ScalarOp::log2_,
    ScalarOp::log10_,    ScalarOp::log1p_,   ScalarOp::sigmoid_, ScalarOp::softplus_, ScalarOp::log1mexp_,
    ScalarOp::logit_,    ScalarOp::cbrt_,    ScalarOp::sinh_,    ScalarOp::cosh_,     ScalarOp::tanh_,
    ScalarOp::arcsinh_,  ScalarOp::arccosh_, ScalarOp::arctanh_, ScalarOp::arctan_,   ScalarOp::arcsin_,
    ScalarOp::arccos_,   ScalarOp::erf_,     ScalarOp::erfc_,    ScalarOp::erfcx_,    ScalarOp::ndtr_,
    ScalarOp::log_ndtr_, ScalarOp::lgamma_,  ScalarOp::digamma_, ScalarOp::sin_,      ScalarOp::cos_,
    ScalarOp::tan_,      ScalarOp::erfinv_,  ScalarOp::erfcinv_, ScalarOp::ndtri_,    ScalarOp::i0_,
    ScalarOp::i1_,       ScalarOp::trigamma_};
constexpr ScalarOp kOfTwo[] = {ScalarOp::pow_, ScalarOp::arctan2_, ScalarOp::xlogy_, ScalarOp::xlog1py_,
                               ScalarOp::logaddexp_};

/// Where both have the vector math: ive of the orders 0, 1 and -1.
void add_parts_of_domains(GraphBuilder& b, DType dtype, ValueId x) {
  for (const double order : {0.0, 1.0})
    b.output(b.scalar(ScalarOp::ive_, {b.literal(Literal::of_float(dtype, order)), x}), str("ive of order ", order));
}

Graph graph_of_all(DType dtype) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  const ValueId x = b.param("x", {dtype, {n}}), y = b.param("y", {dtype, {n}});
  for (const ScalarOp op : kOfOne) b.output(b.scalar(op, {x}), std::string(facts(op).name));
  for (const ScalarOp op : kOfTwo) b.output(b.scalar(op, {x, y}), std::string(facts(op).name));
  add_parts_of_domains(b, dtype, x);
  return std::move(b).finish();
}

/// Of every size, and next to 1 and 0; an odd number of them, for the tails of loops.
template <class T>
std::vector<T> arguments(int seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x = {0, T(-0.0), 1, -1, INFINITY, -INFINITY, NAN, T(1e300), T(5e-324), T(-745.2), T(709.79)};
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  while (x.size() < 30'001) {
    x.push_back(static_cast<T>(uniform(-1, 1)));
    x.push_back(static_cast<T>(uniform(-8, 8)));
    x.push_back(static_cast<T>(uniform(0, 40)));
    x.push_back(static_cast<T>(uniform(-700, 700)));
    x.push_back(static_cast<T>(std::ldexp(uniform(-2, 2), static_cast<int>(random() % 300) - 150)));
  }
  return x;
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
void expect_same(DType dtype) {
  const Graph graph = graph_of_all(dtype);
  const std::vector<T> x = arguments<T>(1), y = arguments<T>(2);
  const std::vector<Array> want = compile(graph, {.backend = "llvm"})({x, y});
  const std::vector<Array> got = compile(graph, {.backend = "c"})({x, y});
  for (std::size_t k = 0; k < want.size(); ++k) {
    const auto a = want[k].elements<T>(), b = got[k].elements<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      ASSERT_EQ(std::bit_cast<BitsOf<T>>(a[i]), std::bit_cast<BitsOf<T>>(b[i]))
          << graph.outputs[k].name << "(" << x[i] << ", " << y[i] << ") is " << a[i] << " and " << b[i];
    }
  }
}

class SameMath : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend_named("llvm").is_available() || !backend_named("c").is_available()) GTEST_SKIP() << "one backend only";
  }

  /// For the time of a test.
  void set(const char* name, const char* value) {
    const char* before = std::getenv(name);
    before_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
    setenv(name, value, 1);
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

#if defined(__aarch64__)
TEST_F(SameMath, WithFusedMultiplyAdds) {
  set("INLAY_CFLAGS", "-march=armv8-a");
  expect_same<double>(DType::f64);
  expect_same<float>(DType::f32);
}
#else
TEST_F(SameMath, WithFusedMultiplyAdds) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "this CPU has none";
  set("INLAY_CPU_FEATURES", "avx2");
  set("INLAY_CFLAGS", "-mfma");
  expect_same<double>(DType::f64);
  expect_same<float>(DType::f32);
}

TEST_F(SameMath, WithoutThem) {
  set("INLAY_CPU_FEATURES", "sse2");
  set("INLAY_CFLAGS", "-march=x86-64");
  expect_same<double>(DType::f64);
  expect_same<float>(DType::f32);
}
#endif

}  // namespace
}  // namespace inlay
