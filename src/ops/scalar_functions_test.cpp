// Known values, computed once with mpmath in 60 digits, and the corners where NumPy and SciPy decide.
#include "ops/scalar_functions.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace inlay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(ScalarFunctions, HaveTheirKnownValues) {
  struct Row {
    const char* name;
    double (*function)(double);
    double x, want;
  };
  const Row rows[] = {
      {"exp", inlay_s_exp, 0.5, 0x1.a61298e1e069cp+0},
      {"exp", inlay_s_exp, -3.25, 0x1.3da368521902dp-5},
      {"exp", inlay_s_exp, 700.0, 0x1.d945df4f8ec8ep+1009},
      {"exp", inlay_s_exp, -740.0, 0x0.0000000000055p-1022},
      {"exp2", inlay_s_exp2, 0.5, 0x1.6a09e667f3bcdp+0},
      {"exp2", inlay_s_exp2, -3.25, 0x1.ae89f995ad3adp-4},
      {"exp2", inlay_s_exp2, 10.0, 0x1.0000000000000p+10},
      {"expm1", inlay_s_expm1, 1e-10, 0x1.b7cdfd9dda4e3p-34},
      {"expm1", inlay_s_expm1, -0.3, -0x1.0966f2c7907f6p-2},
      {"expm1", inlay_s_expm1, 5.0, 0x1.26d389970338fp+7},
      {"log", inlay_s_log, 0.1, -0x1.26bb1bbb55515p+1},
      {"log", inlay_s_log, 1.0625, 0x1.f0a30c01162a6p-5},
      {"log", inlay_s_log, 1e+300, 0x1.5963447f87fb5p+9},
      {"log2", inlay_s_log2, 8.0, 0x1.8000000000000p+1},
      {"log2", inlay_s_log2, 0.3, -0x1.bca9c6f53897bp+0},
      {"log10", inlay_s_log10, 1000.0, 0x1.8000000000000p+1},
      {"log10", inlay_s_log10, 0.3, -0x1.0bb6c34d81502p-1},
      {"log1p", inlay_s_log1p, 1e-12, 0x1.19799812de065p-40},
      {"log1p", inlay_s_log1p, -0.75, -0x1.62e42fefa39efp+0},
      {"log1p", inlay_s_log1p, 3.0, 0x1.62e42fefa39efp+0},
      {"log1mexp", inlay_s_log1mexp, -1e-10, -0x1.7069e2aa2e155p+4},
      {"log1mexp", inlay_s_log1mexp, -0.5, -0x1.dd91afe787e66p-1},
      {"log1mexp", inlay_s_log1mexp, -0.7, -0x1.5f681681ee850p-1},
      {"log1mexp", inlay_s_log1mexp, -3.0, -0x1.a25bd5bf6fe6ap-5},
      {"log1mexp", inlay_s_log1mexp, -40.0, -0x1.39792499b1a24p-58},
      {"sigmoid", inlay_s_sigmoid, 0.5, 0x1.3eb2fd4d34391p-1},
      {"sigmoid", inlay_s_sigmoid, -0.5, 0x1.829a0565978dfp-2},
      {"sigmoid", inlay_s_sigmoid, 40.0, 0x1.0000000000000p+0},
      {"sigmoid", inlay_s_sigmoid, -40.0, 0x1.39792499b1a24p-58},
      {"sigmoid", inlay_s_sigmoid, -720.0, 0x0.0000993b4dc95p-1022},
      {"softplus", inlay_s_softplus, 0.5, 0x1.f2ba37edae032p-1},
      {"softplus", inlay_s_softplus, -0.5, 0x1.e5746fdb5c064p-2},
      {"softplus", inlay_s_softplus, 40.0, 0x1.4000000000000p+5},
      {"softplus", inlay_s_softplus, -40.0, 0x1.39792499b1a24p-58},
      {"softplus", inlay_s_softplus, -720.0, 0x0.0000993b4dc95p-1022},
      {"softplus", inlay_s_softplus, 800.0, 0x1.9000000000000p+9},
      {"cbrt", inlay_s_cbrt, 2.0, 0x1.428a2f98d728bp+0},
      {"cbrt", inlay_s_cbrt, -27.0, -0x1.8000000000000p+1},
      {"sin", inlay_s_sin, 0.5, 0x1.eaee8744b05f0p-2},
      {"sin", inlay_s_sin, 100.0, -0x1.03425b78c4db8p-1},
      {"sin", inlay_s_sin, 1e+22, -0x1.b453ab76bf397p-1},
      {"cos", inlay_s_cos, 0.5, 0x1.c1528065b7d50p-1},
      {"cos", inlay_s_cos, 100.0, 0x1.b981dbf665fdfp-1},
      {"cos", inlay_s_cos, 1e+22, 0x1.0be2cef01c8f4p-1},
      {"tan", inlay_s_tan, 0.5, 0x1.17b4f5bf3474ap-1},
      {"tan", inlay_s_tan, 100.0, -0x1.2ca74d62b5d38p-1},
      {"arcsin", inlay_s_arcsin, 0.3, 0x1.380159e14f6ffp-2},
      {"arcsin", inlay_s_arcsin, -0.99, -0x1.6de3c6f33d51dp+0},
      {"arccos", inlay_s_arccos, 0.3, 0x1.441f5ecbeef59p+0},
      {"arccos", inlay_s_arccos, -0.99, 0x1.8001be1bc011bp+1},
      {"arctan", inlay_s_arctan, 0.3, 0x1.2a73a661eaf06p-2},
      {"arctan", inlay_s_arctan, -100.0, -0x1.8f905eb2def22p+0},
      {"sinh", inlay_s_sinh, 0.3, 0x1.37d42af54b926p-2},
      {"sinh", inlay_s_sinh, -20.0, -0x1.ceb088b68e804p+27},
      {"cosh", inlay_s_cosh, 0.3, 0x1.0b9b4e0b6ec4cp+0},
      {"cosh", inlay_s_cosh, -20.0, 0x1.ceb088b68e804p+27},
      {"tanh", inlay_s_tanh, 0.3, 0x1.2a4dda7d914fap-2},
      {"tanh", inlay_s_tanh, -2.0, -0x1.ed9505e1bc3d4p-1},
      {"arcsinh", inlay_s_arcsinh, 0.3, 0x1.2ec4ea565fcc1p-2},
      {"arcsinh", inlay_s_arcsinh, -20.0, -0x1.d841a9abe2ebbp+1},
      {"arccosh", inlay_s_arccosh, 1.3, 0x1.834b2cab7f58ep-1},
      {"arccosh", inlay_s_arccosh, 20.0, 0x1.d818b3e5d4c5fp+1},
      {"arctanh", inlay_s_arctanh, 0.3, 0x1.3cf2b50617c95p-2},
      {"arctanh", inlay_s_arctanh, -0.9, -0x1.78e360604b32dp+0},
      {"erf", inlay_s_erf, 0.3, 0x1.50838881dea0fp-2},
      {"erf", inlay_s_erf, -1.7, -0x1.f7b3620b8747bp-1},
      {"erf", inlay_s_erf, 1e-08, 0x1.83b547fb79514p-27},
      {"erfc", inlay_s_erfc, 0.3, 0x1.57be3bbf10af8p-1},
      {"erfc", inlay_s_erfc, -1.7, 0x1.fbd9b105c3a3ep+0},
      {"erfc", inlay_s_erfc, 5.0, 0x1.b0c1a759f7739p-40},
      {"erfc", inlay_s_erfc, 26.0, 0x1.284bfe1cdea24p-981},
      {"erfcx", inlay_s_erfcx, 0.0, 0x1.0000000000000p+0},
      {"erfcx", inlay_s_erfcx, 0.3, 0x1.781d676b434c4p-1},
      {"erfcx", inlay_s_erfcx, -1.7, 0x1.1d8f450ac4533p+5},
      {"erfcx", inlay_s_erfcx, 5.0, 0x1.c57239e943d1ap-4},
      {"erfcx", inlay_s_erfcx, 12.5, 0x1.7093453935bbap-5},
      {"erfcx", inlay_s_erfcx, 25.9, 0x1.64a22ccac92adp-6},
      {"erfcx", inlay_s_erfcx, 26.1, 0x1.61e7996a18365p-6},
      {"erfcx", inlay_s_erfcx, 100000.0, 0x1.7a9f084b432a7p-18},
      {"erfcx", inlay_s_erfcx, -26.0, 0x1.32f288d4422dap+976},
      {"erfinv", inlay_s_erfinv, 0.3, 0x1.1700774485ed2p-2},
      {"erfinv", inlay_s_erfinv, -0.9, -0x1.29c0146770651p+0},
      {"erfinv", inlay_s_erfinv, 1e-08, 0x1.308158419499ap-27},
      {"erfinv", inlay_s_erfinv, 0.999, 0x1.29d311405cdb4p+1},
      {"erfinv", inlay_s_erfinv, 1e-301, 0x1.e631f13242c32p-1001},
      {"erfcinv", inlay_s_erfcinv, 0.3, 0x1.773a9da42b450p-1},
      {"erfcinv", inlay_s_erfcinv, 1e-08, 0x1.0357dae183e41p+2},
      {"erfcinv", inlay_s_erfcinv, 1e-300, 0x1.a359fd2c5e942p+4},
      {"erfcinv", inlay_s_erfcinv, 0.9, 0x1.6bf442539fd73p-4},
      {"ndtri", inlay_s_ndtri, 0.3, -0x1.0c7e39582c5fbp-1},
      {"ndtri", inlay_s_ndtri, 1e-08, -0x1.672b074435e3dp+2},
      {"ndtri", inlay_s_ndtri, 1e-300, -0x1.286074064c26ep+5},
      {"log_ndtr", inlay_s_log_ndtr, 0.3, -0x1.ecf6c90ff03b9p-2},
      {"log_ndtr", inlay_s_log_ndtr, 2.0, -0x1.790b233d099bfp-6},
      {"log_ndtr", inlay_s_log_ndtr, 20.0, -0x1.c0bd0f1880783p-295},
      {"log_ndtr", inlay_s_log_ndtr, -0.9, -0x1.b1473564e56d8p+0},
      {"log_ndtr", inlay_s_log_ndtr, -1.1, -0x1.ff60043fa440dp+0},
      {"log_ndtr", inlay_s_log_ndtr, -5.0, -0x1.e21477830f2bdp+3},
      {"log_ndtr", inlay_s_log_ndtr, -38.0, -0x1.6b4752dac0d1ep+9},
      {"log_ndtr", inlay_s_log_ndtr, -100.0, -0x1.38d86328a7de4p+12},
      {"log_ndtr", inlay_s_log_ndtr, -10000.0, -0x1.7d7845108c362p+25},
      {"gamma", inlay_s_gamma, 0.3, 0x1.7eebbb8aec4abp+1},
      {"gamma", inlay_s_gamma, 5.5, 0x1.a2be0247739f2p+5},
      {"gamma", inlay_s_gamma, -1.5, 0x1.2e7fb0bcdf4f2p+1},
      {"gamma", inlay_s_gamma, 170.5, 0x1.9589f849167a8p+1015},
      {"lgamma", inlay_s_lgamma, 0.3, 0x1.188637a6c4196p+0},
      {"lgamma", inlay_s_lgamma, 5.5, 0x1.fa99a5e94985ap+1},
      {"lgamma", inlay_s_lgamma, -1.5, 0x1.b858151820f86p-1},
      {"lgamma", inlay_s_lgamma, 1e-10, 0x1.7069e2aa26ae4p+4},
      {"lgamma", inlay_s_lgamma, 10000000000.0, 0x1.9a43710f467c1p+37},
      {"lgamma", inlay_s_lgamma, 2.5, 0x1.2383e809a67e8p-2},
      {"digamma", inlay_s_digamma, 0.3, -0x1.c052b6b5e6118p+1},
      {"digamma", inlay_s_digamma, 1.0, -0x1.2788cfc6fb619p-1},
      {"digamma", inlay_s_digamma, 5.5, 0x1.9c7099bff7e1ep+0},
      {"digamma", inlay_s_digamma, -1.5, 0x1.680425af12b5ep-1},
      {"digamma", inlay_s_digamma, 1e-10, -0x1.2a05f20049e23p+33},
      {"digamma", inlay_s_digamma, 10000000000.0, 0x1.7069e2aa27361p+4},
      {"digamma", inlay_s_digamma, 1.4616, -0x1.04f02a764ee0ap-15},
      {"trigamma", inlay_s_trigamma, 0.3, 0x1.87da06bfa42ddp+3},
      {"trigamma", inlay_s_trigamma, 1.0, 0x1.a51a6625307d3p+0},
      {"trigamma", inlay_s_trigamma, 5.5, 0x1.9840d2469dc03p-3},
      {"trigamma", inlay_s_trigamma, -1.5, 0x1.2c22c9dc2b128p+3},
      {"trigamma", inlay_s_trigamma, 1e-10, 0x1.5af1d78b58c40p+66},
      {"trigamma", inlay_s_trigamma, -1e10 - 0.25, 0x1.3bd3cc9bdd7ebp+4},
      {"trigamma", inlay_s_trigamma, -1e15 - 0.125, 0x1.0d9353cfbcf88p+6},
      {"trigamma", inlay_s_trigamma, 10000000000.0, 0x1.b7cdfd9dda4e3p-34},
  };
  for (const Row& row : rows) {
    const double got = row.function(row.x);
    EXPECT_LE(std::fabs(got - row.want), 4e-15 * std::fabs(row.want)) << row.name << "(" << row.x << ") is " << got;
  }
}

TEST(ScalarFunctions, HaveTheirValuesInTheCorners) {
  struct Row {
    const char* name;
    double (*function)(double);
    double x, want;
  };
  const Row rows[] = {
      {"log", inlay_s_log, 0.0, -kInf},
      {"log", inlay_s_log, -1.0, kNan},
      {"log1mexp", inlay_s_log1mexp, 0.0, -kInf},
      {"log1mexp", inlay_s_log1mexp, 1.0, kNan},
      {"log1mexp", inlay_s_log1mexp, -kInf, -0.0},
      {"sigmoid", inlay_s_sigmoid, -kInf, 0.0},
      {"sigmoid", inlay_s_sigmoid, kInf, 1.0},
      {"softplus", inlay_s_softplus, kInf, kInf},
      {"softplus", inlay_s_softplus, -kInf, 0.0},
      {"erfcx", inlay_s_erfcx, kInf, 0.0},
      {"erfcx", inlay_s_erfcx, -30.0, kInf},
      {"erfcx", inlay_s_erfcx, -kInf, kInf},
      {"erfinv", inlay_s_erfinv, 1.0, kInf},
      {"erfinv", inlay_s_erfinv, -1.0, -kInf},
      {"erfinv", inlay_s_erfinv, 1.5, kNan},
      {"erfinv", inlay_s_erfinv, -0.0, -0.0},
      {"erfcinv", inlay_s_erfcinv, 0.0, kInf},
      {"erfcinv", inlay_s_erfcinv, 2.0, -kInf},
      {"erfcinv", inlay_s_erfcinv, -0.5, kNan},
      {"ndtri", inlay_s_ndtri, 0.0, -kInf},
      {"ndtri", inlay_s_ndtri, 1.0, kInf},
      {"ndtri", inlay_s_ndtri, 2.0, kNan},
      {"log_ndtr", inlay_s_log_ndtr, -kInf, -kInf},
      {"log_ndtr", inlay_s_log_ndtr, kInf, -0.0},
      {"gamma", inlay_s_gamma, -1.0, kNan},
      {"gamma", inlay_s_gamma, 0.0, kInf},
      {"gamma", inlay_s_gamma, 171.7, kInf},
      {"lgamma", inlay_s_lgamma, 0.0, kInf},
      {"lgamma", inlay_s_lgamma, -3.0, kInf},
      {"lgamma", inlay_s_lgamma, kInf, kInf},
      {"lgamma", inlay_s_lgamma, -kInf, -kInf},
      {"digamma", inlay_s_digamma, 0.0, -kInf},
      {"digamma", inlay_s_digamma, -0.0, kInf},
      {"digamma", inlay_s_digamma, -2.0, kNan},
      {"digamma", inlay_s_digamma, kInf, kInf},
      {"trigamma", inlay_s_trigamma, 0.0, kInf},
      {"trigamma", inlay_s_trigamma, -2.0, kInf},
      {"trigamma", inlay_s_trigamma, kInf, 0.0},
      {"round", inlay_s_round, 0.5, 0.0},
      {"round", inlay_s_round, 1.5, 2.0},
      {"round", inlay_s_round, 2.5, 2.0},
      {"round", inlay_s_round, -0.5, -0.0},
      {"sign", inlay_s_sign, -0.0, 0.0},
      {"sign", inlay_s_sign, -3.0, -1.0},
      {"sign", inlay_s_sign, kInf, 1.0},
  };
  for (const Row& row : rows) {
    EXPECT_TRUE(same(row.function(row.x), row.want)) << row.name << "(" << row.x << ") is " << row.function(row.x);
  }
}

TEST(ScalarFunctions, KeepNan) {
  for (const ScalarFunction& function : scalar_functions()) {
    if (function.signature != ScalarSignature::f64_f64) continue;
    const auto call = reinterpret_cast<double (*)(double)>(const_cast<void*>(function.address));
    EXPECT_TRUE(std::isnan(call(kNan))) << function.name;
  }
}

TEST(ScalarFunctions, NeverThrowAndNeverHang) {
  const double nasty[] = {0.0,  -0.0,      5e-324,    -5e-324,       1e-310,      1e-160,  1e300,    -1e300,
                          kInf, -kInf,     kNan,      -1e10,         -1e15 - 0.5, 1.7e308, -1.7e308, 0.5,
                          -0.5, 1 + 1e-15, 1 - 1e-15, -20.0 + 1e-14, 171.6,       -171.6};
  for (const ScalarFunction& function : scalar_functions()) {
    for (double x : nasty) {
      if (function.signature == ScalarSignature::f64_f64) {
        reinterpret_cast<double (*)(double)>(const_cast<void*>(function.address))(x);
      }
      double im = 0;
      if (function.signature == ScalarSignature::c128_c128) {
        const auto call = reinterpret_cast<double (*)(double, double, double*)>(const_cast<void*>(function.address));
        for (double y : nasty) call(x, y, &im);
      }
      for (double y : nasty) {
        if (function.signature == ScalarSignature::f64_f64_f64) {
          reinterpret_cast<double (*)(double, double)>(const_cast<void*>(function.address))(x, y);
        }
        if (function.signature != ScalarSignature::f64_f64_f64_f64) continue;
        for (double z : nasty) {
          reinterpret_cast<double (*)(double, double, double)>(const_cast<void*>(function.address))(x, y, z);
        }
      }
    }
  }
}

TEST(ScalarFunctions, DivideDownAsNumPyDoes) {
  struct Row {
    double x, y, quotient, remainder;
  };
  const Row rows[] = {
      {7.5, 2.0, 3.0, 1.5},
      {7.5, -2.0, -4.0, -0.5},
      {-7.5, 2.0, -4.0, 0.5},
      {-7.5, -2.0, 3.0, -1.5},
      {-0.0, 2.0, -0.0, 0.0},
      {6.0, -3.0, -2.0, -0.0},
      {1.0, 0.0, kInf, kNan},
      {-1.0, 0.0, -kInf, kNan},
      {0.0, 0.0, kNan, kNan},
      {5.0, kInf, 0.0, 5.0},
      {-5.0, kInf, -1.0, kInf},
      {kInf, 2.0, kNan, kNan},
      {1.0, 0.1, 9.0, 0x1.9999999999996p-4},
  };
  for (const Row& row : rows) {
    EXPECT_TRUE(same(inlay_s_floor_div(row.x, row.y), row.quotient)) << row.x << " // " << row.y;
    EXPECT_TRUE(same(inlay_s_mod(row.x, row.y), row.remainder)) << row.x << " % " << row.y;
  }
}

TEST(ScalarFunctions, IntegersWrapAndRoundDown) {
  struct Row {
    int64_t x, y, quotient, remainder;
  };
  const Row rows[] = {{7, 2, 3, 1},   {7, -2, -4, -1},     {-7, 2, -4, 1},        {-7, -2, 3, -1},
                      {7, 0, 0, 0},   {kMin, -1, kMin, 0}, {kMin, 1, kMin, 0},    {kMin, kMin, 1, 0},
                      {6, -3, -2, 0}, {0, -5, 0, 0},       {kMin, 2, kMin / 2, 0}};
  for (const Row& row : rows) {
    EXPECT_EQ(inlay_s_floor_div_i64(row.x, row.y), row.quotient) << row.x << " // " << row.y;
    EXPECT_EQ(inlay_s_mod_i64(row.x, row.y), row.remainder) << row.x << " % " << row.y;
  }
  EXPECT_EQ(inlay_s_pow_i64(3, 4), 81);
  EXPECT_EQ(inlay_s_pow_i64(-2, 63), kMin);
  EXPECT_EQ(inlay_s_pow_i64(2, 64), 0);
  EXPECT_EQ(inlay_s_pow_i64(0, 0), 1);
  EXPECT_EQ(inlay_s_pow_i64(-1, -3), -1);
  EXPECT_EQ(inlay_s_pow_i64(2, -1), 0);
}

TEST(ScalarFunctions, PowFollowsC) {
  EXPECT_EQ(inlay_s_pow(2, 10), 1024);
  EXPECT_EQ(inlay_s_pow(kNan, 0), 1);
  EXPECT_EQ(inlay_s_pow(1, kNan), 1);
  EXPECT_TRUE(std::isnan(inlay_s_pow(-8, 1.0 / 3)));
  EXPECT_TRUE(same(inlay_s_pow(-0.0, -1), -kInf));
}

TEST(ScalarFunctions, LgammaMayBeCalledFromManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int i = 1; i < 2000; ++i) wrong[t] += inlay_s_lgamma(-i - 0.5) != inlay_s_lgamma(-i - 0.5);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(ScalarFunctions, AreFoundByNameAndBySymbol) {
  std::set<std::string_view> names;
  for (const ScalarFunction& function : scalar_functions()) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name;
    EXPECT_EQ(find_scalar_function(function.name), &function);
    EXPECT_EQ(find_scalar_function(function.symbol), &function);
    EXPECT_NE(function.address, nullptr);
  }
  EXPECT_EQ(find_scalar_function("no_such_function"), nullptr);
}

}  // namespace
}  // namespace inlay
