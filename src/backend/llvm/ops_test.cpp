// Every scalar op on every dtype that it takes, and every cast, on nasty values, against the evaluator.
#include <limits>

#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"
#include "backend/llvm/cpu.h"
#include "oracle/kernels/element.h"

namespace inlay::llvm_backend::testing {
namespace {

constexpr DType kDTypes[] = {DType::boolean, DType::i8,  DType::i16, DType::i32, DType::i64,
                             DType::u8,      DType::u16, DType::u32, DType::u64, DType::f16,
                             DType::bf16,    DType::f32, DType::f64, DType::c64, DType::c128};

std::vector<Literal> nasty(DType dtype) {
  std::vector<Literal> out;
  if (dtype == DType::boolean) return {Literal::of_integer(dtype, 0), Literal::of_integer(dtype, 1)};
  if (is_float(dtype)) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (double x :
         {0.0,    -0.0,  1.0,    -1.0, 0.5,  -0.5,  1.5,   2.5,    -2.5,
          3.0,    -7.25, 0.1,    1e-3, 40.0, -40.0, 700.0, -745.5, 1e5,
          1e-300, 1e300, 5e-324, 3e9,  -3e9, 1e19,  kInf,  -kInf,  std::numeric_limits<double>::quiet_NaN()}) {
      out.push_back(Literal::of_float(dtype, x));
    }
    return out;
  }
  if (is_complex(dtype)) {
    constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
    for (double re : {0.0, -0.0, 1.0, -2.5, 1e-3, 30.0, kInf, -kInf, kNan}) {
      for (double im : {0.0, -0.0, 1.0, -2.5, 1e-3, kInf, kNan}) out.push_back(Literal::of_float(dtype, re, im));
    }
    return out;
  }
  const int bits = static_cast<int>(size_bytes(dtype)) * 8;
  for (int64_t x : {0, 1, 2, 3, 5, 7, 100}) out.push_back(Literal::of_integer(dtype, x));
  if (is_signed_integer(dtype)) {
    const int64_t most = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
    for (int64_t x : {int64_t{-1}, int64_t{-2}, int64_t{-7}, most, -most, -most - 1})
      out.push_back(Literal::of_integer(dtype, x));
  } else {
    out.push_back(Literal::of_integer(dtype, bits == 64 ? -1 : (int64_t{1} << bits) - 1));
    out.push_back(Literal::of_integer(dtype, bits == 64 ? INT64_MIN : int64_t{1} << (bits - 1)));
  }
  return out;
}

/// All pairs of nasty values, as two arrays of one length that is no multiple of a vector.
std::vector<Array> pairs(DType left, DType right) {
  std::vector<Literal> a, b;
  for (const Literal& x : nasty(left)) {
    for (const Literal& y : nasty(right)) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto array = [](DType dtype, const std::vector<Literal>& elements) {
    Array out{dtype, {static_cast<int64_t>(elements.size())}, {}};
    out.bytes.resize(elements.size() * static_cast<std::size_t>(size_bytes(dtype)));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i].store(out.bytes.data() + i * static_cast<std::size_t>(size_bytes(dtype)));
    }
    return out;
  };
  return {array(left, a), array(right, b)};
}

/// One program for all ops of a dtype: compiling is what takes the time.
std::string program_for(DType dtype, const std::vector<ScalarOp>& ops) {
  const std::string_view t = dtype_name(dtype);
  std::string buffers = str("x: ", t, "[n] param 0, y: ", t, "[n] param 1"), body;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    const ScalarOpFacts& op = facts(ops[k]);
    const std::string_view result = dtype_name(result_dtype(ops[k], dtype));
    buffers += str(", r", k, ": ", result, "[n] output ", k);
    std::string operands = std::string("%0, %1, %0, %1").substr(0, static_cast<std::size_t>(4 * op.arity - 2)),
                condition;
    if (ops[k] == ScalarOp::select_) {
      condition = "%3 = axis i : i64 %4 = literal 5 : i64 %5 = mod %3, %4 : i64 %6 = cast %5 : bool ";
      operands = "%6, %0, %1";
    }
    body += str("kernel @k", k, " { stage (i < n) { %0 = load x[i] : ", t, " %1 = load y[i] : ", t, " ", condition,
                "%2 = ", op.name, " ", operands, " : ", result, " store r", k, "[i] set %2 } } ");
  }
  return str("program @main(", buffers, ") symbols n = x.0 { ", body, "}");
}

/// Relative to the size of the number; a complex number that is NaN in one part may be so in the other.
bool agree(const Literal& want, const Literal& got, double tolerance) {
  const bool nan = std::isnan(want.f) || std::isnan(want.imaginary);
  if (nan) return std::isnan(got.f) || std::isnan(got.imaginary);
  if (want.i != got.i) return false;
  const double allowed = tolerance * std::hypot(want.f, want.imaginary) + 1e-300;
  const auto close = [&](double w, double g) {
    return w == g || (std::isfinite(w) && std::isfinite(g) && std::abs(w - g) <= allowed);
  };
  return close(want.f, got.f) && close(want.imaginary, got.imaginary);
}

/// Where a function is steep, its value at a rounded operand says little: relative error, or both huge or tiny.
double tolerance_of(DType dtype) {
  switch (real_of(dtype)) {
    case DType::f16: return 0x1p-10;  // a rounding that falls the other way
    case DType::bf16: return 0x1p-7;
    case DType::f32: return 2e-6;
    default: return 1e-13;
  }
}

class Ops : public ::testing::TestWithParam<std::tuple<DType, std::string>> {};

TEST_P(Ops, AgreeWithTheEvaluator) {
  const auto& [dtype, features] = GetParam();
  std::vector<ScalarOp> ops;
  for (int k = 0; k < kNumScalarOps; ++k) {
    if (accepts(static_cast<ScalarOp>(k), dtype)) ops.push_back(static_cast<ScalarOp>(k));
  }
  EmitOptions options;
  options.cpu_features = features;
  const Compiled compiled(program_for(dtype, ops), options);
  std::vector<Array> params = pairs(dtype, dtype);
  const kernel::Evaluation actual = compiled.run(params);
  ASSERT_FALSE(actual.failure);
  const auto bytes = static_cast<std::size_t>(size_bytes(dtype));
  for (std::size_t k = 0; k < ops.size(); ++k) {
    for (std::size_t i = 0; i < params[0].bytes.size() / bytes; ++i) {
      const kernel::Element a = kernel::Element::load(dtype, params[0].bytes.data() + i * bytes);
      const kernel::Element b = kernel::Element::load(dtype, params[1].bytes.data() + i * bytes);
      if (ops[k] == ScalarOp::pow_ && is_signed_integer(dtype) && number_at(params[1], i) < 0) continue;
      if (ops[k] == ScalarOp::floor_div_ && std::isinf(number_at(params[1], i))) continue;  // not in the evaluator
      std::vector<kernel::Element> operands = {a};
      if (facts(ops[k]).arity > 1) operands.push_back(b);
      if (facts(ops[k]).arity > 2 && ops[k] != ScalarOp::select_) operands.push_back(a);
      if (facts(ops[k]).arity > 3) operands.push_back(b);
      if (ops[k] == ScalarOp::select_)
        operands.insert(operands.begin(), kernel::Element::of_integer(DType::boolean, i % 5 != 0));
      const kernel::Element expected = kernel::apply_op(ops[k], operands);
      const Literal want = Literal::load(expected.dtype, expected.bytes.data());
      const Array& results = actual.outputs[k];
      const Literal got =
          Literal::load(results.dtype, results.bytes.data() + i * static_cast<std::size_t>(size_bytes(results.dtype)));
      EXPECT_TRUE(agree(want, got, tolerance_of(dtype)))
          << facts(ops[k]).name << " " << dtype_name(dtype) << " of " << Literal::load(dtype, a.bytes.data()).to_text()
          << ", " << Literal::load(dtype, b.bytes.data()).to_text() << " is " << got.to_text() << ", expected "
          << want.to_text();
    }
  }
}

TEST_P(Ops, CastsAgreeWithTheEvaluator) {
  const auto& [dtype, features] = GetParam();
  std::string buffers = str("x: ", dtype_name(dtype), "[n] param 0"), body;
  std::vector<DType> to;
  for (DType candidate : kDTypes) {
    if (!is_complex(dtype) || is_complex(candidate)) to.push_back(candidate);
  }
  for (std::size_t k = 0; k < to.size(); ++k) {
    buffers += str(", r", k, ": ", dtype_name(to[k]), "[n] output ", k);
    body += str("kernel @k", k, " { stage (i < n) { %0 = load x[i] : ", dtype_name(dtype),
                " %1 = cast %0 : ", dtype_name(to[k]), " store r", k, "[i] set %1 } } ");
  }
  EmitOptions options;
  options.cpu_features = features;
  const Compiled compiled(str("program @main(", buffers, ") symbols n = x.0 { ", body, "}"), options);
  std::vector<Literal> values = nasty(dtype);
  if (is_float(dtype)) values.pop_back();  // NaN has no integer: the fuser's check
  Array x{dtype, {static_cast<int64_t>(values.size())}, {}};
  const auto bytes = static_cast<std::size_t>(size_bytes(dtype));
  x.bytes.resize(values.size() * bytes);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].store(x.bytes.data() + i * bytes);
  const std::vector<Array> params = {x};
  const kernel::Evaluation expected = kernel::evaluate(compiled.program(), params), actual = compiled.run(params);
  for (std::size_t k = 0; k < to.size(); ++k) {
    const auto size = static_cast<std::size_t>(size_bytes(to[k]));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Literal want = Literal::load(to[k], expected.outputs[k].bytes.data() + i * size);
      const Literal got = Literal::load(to[k], actual.outputs[k].bytes.data() + i * size);
      EXPECT_TRUE(agree(want, got, 0)) << dtype_name(dtype) << " to " << dtype_name(to[k]) << ": "
                                       << values[i].to_text() << " is " << got.to_text() << ", expected "
                                       << want.to_text();
    }
  }
}

/// As this CPU computes it, and as older ones do.
INSTANTIATE_TEST_SUITE_P(All, Ops, ::testing::Combine(::testing::ValuesIn(kDTypes), ::testing::ValuesIn(kWidths)),
                         [](const auto& info) {
                           return str(dtype_name(std::get<0>(info.param)), width_name(std::get<1>(info.param)));
                         });

/// The cost of an op says that it has no call: it has none in the code.
TEST(Support, WhatIsInstructionsCallsNothing) {
  EmitOptions options;
  options.keep_ir = true;
  for (int k = 0; k < kNumScalarOps; ++k) {
    const auto op = static_cast<ScalarOp>(k);
    if (op == ScalarOp::select_ || facts(op).result == ResultRule::Pair || !accepts(op, DType::f64)) continue;
    const Compiled compiled(program_for(DType::f64, {op}), options);
    const bool calls = compiled.emitted().ir.find("@inlay_s_") != std::string::npos;
    const bool is_vector = caps().support(op, DType::f64) == kernel::Support::vector;
    // (The vector math calls in lanes that are outside of its domain.)
    const bool may_call = !is_vector || facts(op).cost > kCostOfRoot;
    EXPECT_TRUE(calls ? may_call : is_vector) << facts(op).name;
  }
}

constexpr const char* kOfX86 = "of x86-64: no feature can be taken from a CPU of aarch64";

TEST(Features, WhateverIsTakenAwayTheRestIsLeft) {
  if (architecture() != "x86-64") GTEST_SKIP() << kOfX86;
  for (const char* features : {"-sse3", "-ssse3", "-sse4.1", "-sse4.2", "-avx", "-avx2", "-fma", "-f16c", "-avx512f",
                               "-avx512dq", "-avx512bw", "-avx512vl", "-bmi2,-fma", "-avx2,-bmi2"}) {
    EmitOptions options;
    options.cpu_features = features;
    const Compiled compiled(
        R"(program @main(x: f64[n] param 0, r: f64[n] output 0) symbols n = x.0 {
      kernel @k0 { stage (i < n) { %0 = load x[i] : f64  %1 = exp %0 : f64  store r[i] set %1 } } })",
        options);
    const kernel::Evaluation result = compiled.run(std::vector{vector_of(std::vector<double>(9, 1.0))});
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(number_at(result.outputs[0], i), std::exp(1.0), 1e-15) << features;
  }
}

TEST(StorageFloats, ConvertAsTheirFormatsSay) {
  const Compiled compiled(
      R"(program @main(x: f64[n] param 0, h: f16[n] output 0, b: bf16[n] output 1, p: f64[n] output 2,
      q: f64[n] output 3) symbols n = x.0 {
    kernel @k0 { stage (i < n) { %0 = load x[i] : f64  %1 = cast %0 : f16  %2 = cast %0 : bf16  store h[i] set %1
      store b[i] set %2  %3 = cast %1 : f64  %4 = cast %2 : f64  store p[i] set %3  store q[i] set %4 } } })");
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {1, -2.5, 1.0 / 3, 65504, 65536, 1e-8, -0.0, inf, 1 + 0x1p-8, 1 + 3 * 0x1p-8, 3e38};
  const kernel::Evaluation result = compiled.run(std::vector{vector_of(x)});
  const std::vector<double> f16 = {1, -2.5, 0.333251953125, 65504, inf, 0, -0.0, inf, 1 + 0x1p-8, 1 + 3 * 0x1p-8, inf};
  const std::vector<double> bf16 = {1,    -2.5, 0.333984375, 65536,      65536,       1.0011717677116394e-08,
                                    -0.0, inf,  1,           1 + 0x1p-6, 3.0040553e38};
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(number_at(result.outputs[2], i), f16[i]) << x[i];
    EXPECT_FLOAT_EQ(number_at(result.outputs[3], i), bf16[i]) << x[i];
  }
  const auto* bits = reinterpret_cast<const uint16_t*>(result.outputs[1].bytes.data());
  EXPECT_EQ(bits[1], 0xc020);
  EXPECT_EQ(bits[7], 0x7f80);
}

TEST(LongModules, CallOneCopyOfTheirMathAndComputeTheSame) {
  const std::vector<ScalarOp> few = {ScalarOp::tanh_, ScalarOp::sin_}, many(60, ScalarOp::tanh_);
  std::vector<ScalarOp> last = many;
  last.push_back(ScalarOp::sin_);  // which leaves for a C function where its domain ends
  EmitOptions options;
  options.keep_ir = true;
  const Compiled one(program_for(DType::f64, {ScalarOp::tanh_}), options);
  const Compiled small(program_for(DType::f64, few), options), large(program_for(DType::f64, last), options);
  const int lanes = vector_math_lanes(features_from_environment());
  const auto calls = [&](const Compiled& compiled) {
    const std::string &ir = compiled.emitted().ir, call = str("call <", lanes, " x double> @inlay_d", lanes, "_");
    int count = 0;
    for (std::size_t at = 0; (at = ir.find(call, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(calls(one), 0);
  EXPECT_GT(calls(large), 60);  // a loop of whole vectors and a rest for each; the first ones are copied
  const std::vector<Array> params = pairs(DType::f64, DType::f64);
  const kernel::Evaluation of_few = small.run(params), of_many = large.run(params);
  for (std::size_t k = 0; k < many.size(); ++k) EXPECT_EQ(of_many.outputs[k].bytes, of_few.outputs[0].bytes) << k;
  EXPECT_EQ(of_many.outputs[many.size()].bytes, of_few.outputs[1].bytes);
}

TEST(FloatMath, GivesTheSameNumberInLoopsOfAnyWidth) {
  std::vector<double> x;
  for (const Literal& literal : nasty(DType::f32)) x.push_back(literal.f);
  for (int i = 0; i < 100; ++i) x.push_back(0.01 + 0.037 * i);
  Array param{DType::f32, {static_cast<int64_t>(x.size())}, {}};
  for (const double value : x) {
    const float f = static_cast<float>(value);
    param.bytes.insert(param.bytes.end(), reinterpret_cast<const std::byte*>(&f),
                       reinterpret_cast<const std::byte*>(&f + 1));
  }
  for (const std::string name :
       {"exp", "exp2", "expm1", "log", "log2", "log1p", "sigmoid", "softplus", "tanh", "erf", "sin", "cos"}) {
    const std::string value = str("%0 = load x[32 + i] : f32 %1 = ", name, " %0 : f32 ");
    const Compiled compiled(
        str("program @main(x: f32[n] param 0, a: f32[n - 32] output 0, b: f64[n - 32] output 1,",
            " c: f32[3] output 2, d: f32[1] output 3) symbols n = x.0 {", " kernel @k0 { stage (i < n - 32) { ", value,
            "store a[i] set %1 } }", " kernel @k1 { stage (i < n - 32) { ", value,
            "%2 = cast %1 : f64 store b[i] set %2 } }", " kernel @k2 { stage (i < 3) { ", value,
            "store c[i] set %1 } }", " kernel @k3 { stage (i < 1) { ", value, "store d[i] set %1 } } }"));
    const kernel::Evaluation result = compiled.run(std::vector{param});
    for (std::size_t i = 0; i + 32 < x.size(); ++i) {
      const double want = number_at(result.outputs[0], i);
      EXPECT_EQ(number_at(result.outputs[1], i), want) << name << " " << i;
      if (i < 3) {
        EXPECT_EQ(number_at(result.outputs[2], i), want) << name << " " << i;
      }
    }
    EXPECT_EQ(number_at(result.outputs[3], 0), number_at(result.outputs[0], 0)) << name;
  }
}

/// The quotients of any numbers, and of those next to what the machine's numbers end at, bit for bit.
template <class T, class Bits>
void expect_rounded_division(DType dtype, std::vector<T> edges) {
  const std::string t(dtype_name(dtype));
  const Compiled compiled(str("program @main(x: ", t, "[n] param 0, d: ", t, " param 1, r: ", t,
                              "[n] output 0) symbols n = x.0 { kernel @k0 { stage (i < n) { %0 = load x[i] : ", t,
                              "  %1 = load d[] : ", t, "  %2 = div %0, %1 : ", t, "  store r[i] set %2 } } }"));
  std::mt19937_64 random(11);
  const auto any_number = [&] { return std::bit_cast<T>(static_cast<Bits>(random())); };
  const auto usual = [&] {
    return std::ldexp(std::uniform_real_distribution<T>(-1, 1)(random), static_cast<int>(random() % 80) - 40);
  };
  using Limits = std::numeric_limits<T>;
  for (T edge : {Limits::denorm_min(), Limits::min(), Limits::max(), std::nextafter(Limits::min(), T{0}), T{49}}) {
    edges.push_back(edge);
    edges.push_back(-edge);
  }
  for (int exponent = Limits::min_exponent - Limits::digits; exponent < Limits::max_exponent; exponent += 7)
    edges.push_back(std::ldexp(T{1}, exponent));
  for (const Literal& x : nasty(dtype)) edges.push_back(static_cast<T>(x.f));
  std::vector<T> divisors = edges;
  for (int i = 0; i < 300; ++i) divisors.push_back(i % 2 ? any_number() : usual());
  for (T d : divisors) {
    std::vector<T> x = edges;
    for (int i = 0; i < 600; ++i) x.push_back(i % 2 ? any_number() : usual());
    for (int i = 0; i < 300; ++i) x.push_back(usual() * d);  // no quotient of these is out of range
    for (int i = 0; i < 300; ++i) x.push_back(static_cast<T>(i) * d);
    for (int i = 0; i < 64; ++i) x.push_back(i % 5 == 0 ? T{-0.0} : static_cast<T>(i));
    const std::vector<Array> params = {array_of<T>(dtype, {static_cast<int64_t>(x.size())}, x),
                                       array_of<T>(dtype, {}, {d})};
    const kernel::Evaluation result = compiled.run(params);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T want = x[i] / d, got = static_cast<T>(number_at(result.outputs[0], i));
      if (std::isnan(want) && std::isnan(got)) continue;
      ASSERT_EQ(std::bit_cast<Bits>(want), std::bit_cast<Bits>(got)) << x[i] << " / " << d;
    }
  }
}

TEST(UniformDivision, OfDoublesIsRoundedAsDivisionIs) {
  expect_rounded_division<double, uint64_t>(
      DType::f64, {3e-310, 1.7e308, 0x1.fffffffffffffp-1022, 0x1.fffffffffffffp-961, 0x1p-960, 0x1p1000, 0x1.8p1001,
                   0x1.8p1019, 0x1p1020, 0x1.8p1020, 0x1p1022, 0x1.fffffffffffffp0});
}

TEST(UniformDivision, OfFloatsIsRoundedAsDivisionIs) {
  expect_rounded_division<float, uint32_t>(
      DType::f32, {1e-42F, 3.3e38F, 0x1.fffffep-126F, 0x1.fffffep-97F, 0x1p-96F, 0x1p100F, 0x1.8p123F, 0x1p124F,
                   0x1.8p124F, 0x1p126F, 0x1.fffffep0F});
}

TEST(UniformDivision, IsDivisionWhereMultiplyAddsAreCalls) {
  if (architecture() != "x86-64") GTEST_SKIP() << kOfX86;
  EmitOptions options;
  options.keep_ir = true;
  options.cpu_features = "-fma,-avx512f";
  const Compiled compiled(R"(program @main(x: f64[n] param 0, d: f64 param 1, r: f64[n] output 0) symbols n = x.0 {
      kernel @k0 { stage (i < n) { %0 = load x[i] : f64  %1 = load d[] : f64  %2 = div %0, %1 : f64
        store r[i] set %2 } } })",
                          options);
  EXPECT_EQ(compiled.emitted().ir.find("@llvm.fma"), std::string::npos);
}

/// A tile of columns, each with a divisor of its own, that rows share; the last tile is not full.
TEST(UniformDivision, OfColumnsIsRoundedAsDivisionIs) {
  const Compiled compiled(R"(program @main(x: f64[n, m] param 0, s: f64[m] param 1, r: f64[n, m] output 0,
      q: f32[n, m] output 1) symbols n = x.0, m = x.1 { kernel @k0 { outer (j < m) by 64 stage (i < n, j) {
        %0 = load x[i, j] : f64  %1 = load s[j] : f64  %2 = literal 1.5 : f64  %3 = add %1, %2 : f64
        %4 = div %0, %3 : f64  store r[i, j] set %4
        %5 = cast %0 : f32  %6 = cast %1 : f32  %7 = div %5, %6 : f32  store q[i, j] set %7 } } })");
  const double inf = std::numeric_limits<double>::infinity();
  for (int64_t m : {1, 7, 63, 64, 65, 150}) {
    std::vector<double> s, x;
    for (int64_t j = 0; j < m; ++j)
      s.push_back(std::array{0.3, -7.0, 0.0, inf, -0.0, 1e300, std::nan(""), -1.5}[j % 8]);
    for (int64_t i = 0; i < 9 * m; ++i) x.push_back(std::array{1.0, -3.0, 0.0, inf, 1e10, -inf, 0.1}[i % 7]);
    const std::vector<Array> params = {array_of<double>(DType::f64, {9, m}, x), vector_of(s)};
    const kernel::Evaluation actual = compiled.run(params), expected = evaluate(compiled.program(), params);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(difference(expected.outputs[k], actual.outputs[k], 0), "") << m;
  }
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
