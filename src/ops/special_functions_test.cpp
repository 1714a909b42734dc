// Values from mpmath, and the corners where SciPy decides, of the functions of gamma_functions.cpp,
// incomplete_functions.cpp, bessel_functions.cpp and normal_functions.cpp that came with more than one operand or after
// the elementary ones.
#include <cmath>
#include <ctime>
#include <limits>
#include <tuple>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include "ops/scalar_functions.h"

namespace inlay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

struct One {
  const char* name;
  double (*function)(double);
  double x, want;
};
struct Two {
  const char* name;
  double (*function)(double, double);
  double x, y, want;
};
struct Three {
  const char* name;
  double (*function)(double, double, double);
  double x, y, z, want;
};

struct Four {
  const char* name;
  double (*function)(double, double, double, double);
  double a, b, c, d, want;
};

void expect_near(const char* name, double got, double want) {
  EXPECT_LE(std::fabs(got - want), 3e-14 * std::fabs(want)) << name << " is " << got << ", not " << want;
}

TEST(SpecialFunctions, OfOneOperandHaveTheirKnownValues) {
  const One rows[] = {
      {"ndtr", inlay_s_ndtr, 0.3, 0x1.3c5ee2cc40b79p-1},
      {"ndtr", inlay_s_ndtr, -1.7, 0x1.6d148ca287905p-5},
      {"ndtr", inlay_s_ndtr, -20.0, 0x1.c0bd0f1880783p-295},
      {"ndtr", inlay_s_ndtr, 5.0, 0x1.fffff661ae86fp-1},
      {"logit", inlay_s_logit, 0.3, -0x1.b1d10670aae9ap-1},
      {"logit", inlay_s_logit, 0.5000001, 0x1.ad7f29a800065p-22},
      {"logit", inlay_s_logit, 1e-300, -0x1.5963447f87fb5p+9},
      {"logit", inlay_s_logit, 0.9, 0x1.193ea7aad030bp+1},
      {"i0", inlay_s_i0, 0.3, 0x1.05cae00ad35d9p+0},
      {"i0", inlay_s_i0, -20.0, 0x1.4c52c5479f734p+25},
      {"i0", inlay_s_i0, 700.0, 0x1.c8cdeeadb5df0p+1003},
      {"i1", inlay_s_i1, 0.3, 0x1.36ab428e8f8a0p-3},
      {"i1", inlay_s_i1, -20.0, -0x1.43e7deb14bddep+25},
      {"i1", inlay_s_i1, 700.0, 0x1.c87a5f5ceb9dfp+1003},
      {"j0", inlay_s_j0, 0.3, 0x1.f48b6d692fb9ep-1},
      {"j0", inlay_s_j0, -20.0, 0x1.561106f7bed64p-3},
      {"j0", inlay_s_j0, 1000.0, 0x1.961ae599a7b3cp-6},
      {"j1", inlay_s_j1, 0.3, 0x1.2fc1c68a32002p-3},
      {"j1", inlay_s_j1, -20.0, -0x1.11bf9c29ff1c6p-4},
      {"j1", inlay_s_j1, 1000.0, 0x1.35dfe90198bdcp-8},
      {"ndtri_exp", inlay_s_ndtri_exp, -0.1, 0x1.4f431cb2ef07fp+0},
      {"ndtri_exp", inlay_s_ndtri_exp, -3.0, -0x1.a59ca970bd140p+0},
      {"ndtri_exp", inlay_s_ndtri_exp, -1000.0, -0x1.64ed0d259b287p+5},
      {"ndtri_exp", inlay_s_ndtri_exp, -1e+20, -0x1.a577eea3dd8fdp+33},
      {"digamma", inlay_s_digamma, -0.5041, -0x1.3e904348aad67p-13},
      {"digamma", inlay_s_digamma, -1.57351, -0x1.e0a5b66a8662bp-14},
      {"digamma", inlay_s_digamma, -9.7027, -0x1.b4c7c77977724p-12},
      {"digamma", inlay_s_digamma, -100.25, 0x1.f045737bcae4cp+2},
  };
  for (const One& row : rows) expect_near(row.name, row.function(row.x), row.want);
}

TEST(SpecialFunctions, OfTwoOperandsHaveTheirKnownValues) {
  const Two rows[] = {
      {"xlogy", inlay_s_xlogy, 2.5, 0.3, -0x1.814573bed10e9p+1},
      {"xlog1py", inlay_s_xlog1py, 2.5, 1e-10, 0x1.12e0be823261cp-32},
      {"logaddexp", inlay_s_logaddexp, 1.0, 2.0, 0x1.2818f57f7d825p+1},
      {"logaddexp", inlay_s_logaddexp, -800.0, -801.0, -0x1.8fd7e70a80828p+9},
      {"logaddexp", inlay_s_logaddexp, 3.0, -40.0, 0x1.8000000000000p+1},
      {"beta", inlay_s_beta, 2.5, 0.3, 0x1.2fa1297b18b80p+1},
      {"beta", inlay_s_beta, 100.0, 200.0, 0x1.c07f28f3dae24p-278},
      {"beta", inlay_s_beta, -1.5, 2.25, 0x1.17afa6d04c33ep+1},
      {"lbeta", inlay_s_lbeta, 2.5, 0.3, 0x1.ba411e9fadbe0p-1},
      {"lbeta", inlay_s_lbeta, 100000.0, 200000.0, -0x1.74f77150d37b6p+17},
      {"lbeta", inlay_s_lbeta, 3.0, 100000000.0, -0x1.b48d18dd48365p+5},
      {"lbeta", inlay_s_lbeta, -1.5, 2.25, 0x1.9032d3b2d9dabp-1},
      {"polygamma", inlay_s_polygamma, 2.0, 0.3, -0x1.2d1713d4de2acp+6},
      {"polygamma", inlay_s_polygamma, 3.0, 10.5, 0x1.04d8369c08cefp-9},
      {"polygamma", inlay_s_polygamma, 2.0, -1.25, 0x1.eee2adf961009p+6},
      {"gammainc", inlay_s_gammainc, 0.3, 2.0, 0x1.f4b902b95ec2ep-1},
      {"gammainc", inlay_s_gammainc, 20.0, 15.0, 0x1.ff1a965b84748p-4},
      {"gammainc", inlay_s_gammainc, 1e-05, 1e-05, 0x1.fff1aac77a2c1p-1},
      {"gammaincc", inlay_s_gammaincc, 0.3, 2.0, 0x1.68dfa8d427a3fp-6},
      {"gammaincc", inlay_s_gammaincc, 20.0, 30.0, 0x1.665ff9e6c670ap-6},
      {"gammaincc", inlay_s_gammaincc, 1.0, 100.0, 0x1.a8c1f14e2af5dp-145},
      {"gammainc_da", inlay_s_gammainc_da, 0.3, 2.0, -0x1.9689f512d0338p-4},
      {"gammainc_da", inlay_s_gammainc_da, 20.0, 15.0, -0x1.8d6cbeebd9a82p-5},
      {"gammainc_da", inlay_s_gammainc_da, 3.0, 1e-05, -0x1.32b32c0131eb5p-49},
      {"gammainc_da", inlay_s_gammainc_da, 2.5, 40.0, -0x1.6c25f3b27fa97p-49},
      {"gammainc", inlay_s_gammainc, 1000000000.0, 999747017.7871865, 0x1.64af49942fe94p-51},
      {"gammainc", inlay_s_gammainc, 1000000000000.0, 1000000000000.0, 0x1.000004764bc8cp-1},
      {"gammainc", inlay_s_gammainc, 1000000000000.0, 1000000500000.0, 0x1.6207611738bc4p-1},
      {"gammainc", inlay_s_gammainc, 1000000000000000.0, 1000000094868329.8, 0x1.ff4f10eced05dp-1},
      {"gammaincc", inlay_s_gammaincc, 1000000000000.0, 1000000000000.0, 0x1.fffff713686e9p-2},
      {"gammaincc", inlay_s_gammaincc, 1000000000000.0, 1000000500000.0, 0x1.3bf13dd18e879p-2},
      {"gammaincc", inlay_s_gammaincc, 1000000000000000.0, 1000000094868329.8, 0x1.61de2625f46e5p-10},
      {"gammaincinv", inlay_s_gammaincinv, 1e15, 0.5, 999999999999999.6},
      {"gammaincinv", inlay_s_gammaincinv, 1e15, 0.9, 1000000040526219.1},
      {"gammaincinv", inlay_s_gammaincinv, 0.3, 0.2, 0x1.aca6629c55441p-9},
      {"gammaincinv", inlay_s_gammaincinv, 20.0, 0.9, 0x1.9e70c1d614dc7p+4},
      {"gammainccinv", inlay_s_gammainccinv, 0.3, 0.2, 0x1.d71d9be96cf9bp-2},
      {"gammainccinv", inlay_s_gammainccinv, 20.0, 1e-20, 0x1.744851ce2435ap+6},
      {"owens_t", inlay_s_owens_t, 0.3, 2.0, 0x1.4d037c815c3bfp-3},
      {"owens_t", inlay_s_owens_t, -2.5, -0.7, -0x1.81a56f06657a2p-9},
      {"jv", inlay_s_jv, 2.5, 0.3, 0x1.557b6c8853813p-9},
      {"jv", inlay_s_jv, -1.5, 4.0, 0x1.77ec37758d1c2p-2},
      {"jv", inlay_s_jv, 3.0, -20.0, 0x1.9519a0f2a79f9p-4},
      {"ive", inlay_s_ive, 5e-324, 5e-324, 1},
      {"ive", inlay_s_ive, 0.5, 5e-324, 0x1.9884533d43651p-538},
      {"ive", inlay_s_ive, 2.5, 0.3, 0x1.003fee8e33342p-9},
      {"ive", inlay_s_ive, -1.5, 4.0, 0x1.323763efbbaa0p-3},
      {"ive", inlay_s_ive, 3.0, -20.0, -0x1.240bc450c98dfp-4},
      {"ive", inlay_s_ive, 0.0, 1000.0, 0x1.9d71158fd95e8p-7},
      {"ive", inlay_s_ive, 40.0, 600.0, 0x1.193d7fdbf807ap-8},
      {"ive", inlay_s_ive, 700.0, 3.0, 0x0.0p+0},
      {"kve", inlay_s_kve, 2.5, 0.3, 0x1.95c773f70daa2p+6},
      {"kve", inlay_s_kve, -1.5, 4.0, 0x1.910f7e7f3b0c7p-1},
      {"kve", inlay_s_kve, 0.0, 1000.0, 0x1.44a29d28a8d5cp-5},
      {"kve", inlay_s_kve, 40.0, 600.0, 0x1.8cd0b57354298p-3},
      {"kve", inlay_s_kve, 0, 5e-324, 0x1.74472b1ee1464p+9},
      {"kve", inlay_s_kve, 1e-8, 5e-324, 0x1.74472b1ef00c3p+9},
      {"kve", inlay_s_kve, 1e-3, 1e-310, 0x1.84103fcc7dea2p+9},
      {"kve", inlay_s_kve, 2e-3, 5e-324, 0x1.06f991dd20d50p+10},
      {"kve", inlay_s_kve, 0.25, 5e-324, 0x1.863dd872cdefdp+269},
      {"kve", inlay_s_kve, -0.5, 5e-324, 0x1.40d931ff62706p+537},
      {"kve", inlay_s_kve, 1, 1e-305, 0x1.23a516e82d9bap+1013},
      {"kve", inlay_s_kve, 0.999, 1e-302, 0x1.29f19b5e67cedp+1002},
      {"ive", inlay_s_ive, -0.25, 5e-324, 0x1.5f5742f2f066cp+268},
  };
  for (const Two& row : rows) expect_near(row.name, row.function(row.x, row.y), row.want);
}

TEST(SpecialFunctions, OfThreeOperandsHaveTheirKnownValues) {
  const Three rows[] = {
      {"betainc", inlay_s_betainc, 2.5, 0.3, 0.2, 0x1.b90e528b91c13p-9},
      {"betainc", inlay_s_betainc, 20.0, 30.0, 0.5, 0x1.d8fbcde3c4ec0p-1},
      {"betainc", inlay_s_betainc, 3.0, 4.0, 1e-10, 0x1.95a5efe8e3333p-96},
      {"betainc_da", inlay_s_betainc_da, 2.5, 0.3, 0.2, -0x1.9a034b18c42c0p-8},
      {"betainc_da", inlay_s_betainc_da, 20.0, 30.0, 0.5, -0x1.74fbc248f3ce4p-6},
      {"betainc_da", inlay_s_betainc_da, 3.0, 4.0, 1e-10, -0x1.1c11f5ec9a629p-91},
      {"betainc_db", inlay_s_betainc_db, 2.5, 0.3, 0.2, 0x1.cd923b9faff23p-7},
      {"betainc_db", inlay_s_betainc_db, 20.0, 30.0, 0.5, 0x1.2fb24dc91a608p-6},
      {"betainc_db", inlay_s_betainc_db, 3.0, 4.0, 1e-10, 0x1.f44ca7e27946cp-97},
      {"betaincinv", inlay_s_betaincinv, 1, kInf, 0.3, 0},
      {"betaincinv", inlay_s_betaincinv, kInf, 1, 0.3, 1},
      {"betaincinv", inlay_s_betaincinv, 2.5, 0.3, 0.2, 0x1.9e4f879795ed6p-1},
      {"betaincinv", inlay_s_betaincinv, 20.0, 30.0, 0.5, 0x1.98395e862c712p-2},
      {"betaincinv", inlay_s_betaincinv, 3.0, 4.0, 1e-10, 0x1.66a769426aa90p-13},
  };
  for (const Three& row : rows) expect_near(row.name, row.function(row.x, row.y, row.z), row.want);
}

TEST(SpecialFunctions, OfFourOperandsHaveTheirKnownValues) {
  const Four rows[] = {
      {"hyp2f1", inlay_s_hyp2f1, 1.5, 2.5, 3.5, 0.3, 0x1.73e89475b728bp+0},
      {"hyp2f1", inlay_s_hyp2f1, 1.5, 2.5, 3.5, 0.99, 0x1.3fadea8145664p+5},
      {"hyp2f1", inlay_s_hyp2f1, 1, 1, 2, 0.999, 0x1.ba89f3d352bf4p+2},
      {"hyp2f1", inlay_s_hyp2f1, 2, 3, 4, 0.9999999999999991, 0x1.7fffffffffe72p+51},
      {"hyp2f1", inlay_s_hyp2f1, 0.5, 1.5, 4.25, -3.0, 0x1.71984e0de37d7p-1},
      {"hyp2f1", inlay_s_hyp2f1, 0.5, 1.5, 4.25, -1000000.0, 0x1.150997a800106p-9},
      {"hyp2f1", inlay_s_hyp2f1, 120.0, 80.0, 210.0, 0.97, 0x1.d03d7d92c4dd7p+133},
      {"hyp2f1", inlay_s_hyp2f1, -3, 2.5, 1.5, 2.0, -0x1.4000000000000p+2},
      {"hyp2f1", inlay_s_hyp2f1, -2.5, 1.5, 3.25, 0.95, 0x1.3ca8b7dc54efep-2},
      {"hyp2f1", inlay_s_hyp2f1, 2, 3, 7.5, 1, 0x1.057c57c57c57cp+2},
      {"hyp2f1", inlay_s_hyp2f1, -2.5, 3, 0.5, 0.99, -0x1.186cbec1ecd23p+0},
      {"hyp2f1", inlay_s_hyp2f1, -2.5, -2.5, 10, -30, 0x1.cd941c9ee9e6dp+4},
      {"hyp2f1", inlay_s_hyp2f1, 3, 1, -64.89, 0.598, -0x1.125dd06fe2a5cp+62},
      {"hyp2f1", inlay_s_hyp2f1, -64.15, -60.39, -64.89, 0.598, 0x1.36f90a7f9a476p-79},
      {"hyp2f1", inlay_s_hyp2f1, 8.5, -9.25, 0.5, 0.97, 0x1.e57b60f300fbap-3},
      {"hyp2f1", inlay_s_hyp2f1, 57, -93.5, -52.5, 0.99997, -0x1.536f1bfb0d24ap+285},
      {"hyp2f1", inlay_s_hyp2f1, 27.8, 25.7, -18.1, -3210, -0x1.dedd777cef85ap-264},
      {"hyp2f1", inlay_s_hyp2f1, -97, -22.7, -76.3, -0.776, 0x1.afcd25d978893p+22},
      // c - a or c - b next to a whole number up to 0: its last bits are all of a factor.
      {"hyp2f1", inlay_s_hyp2f1, 2, -100, 1e-20, 0.5, 0x1.cd4123b0d27a1p-11},
      {"hyp2f1", inlay_s_hyp2f1, 9, -67, 2.027e-13, 0.92448, -0x1.129fba8718f74p-34},
      {"hyp2f1", inlay_s_hyp2f1, 100, 1e-10, -0.9999999999, -0.5, 0x1.635dfe141a7b8p-24},
      {"hyp2f1", inlay_s_hyp2f1, 1.915481303950453, -1.3201e-14, -2.0000000000002656, -19.958, 0x1.e6f3496e56294p-1},
  };
  for (const Four& row : rows) expect_near(row.name, row.function(row.a, row.b, row.c, row.d), row.want);
}

TEST(SpecialFunctions, Hyp2f1HasItsCorners) {
  const Four rows[] = {
      {"z is 0", inlay_s_hyp2f1, kNan, 1, 2, 0, 1},
      {"a is 0", inlay_s_hyp2f1, 0, 1, 2, kNan, 1},
      {"nan", inlay_s_hyp2f1, 1, 1, 2, kNan, kNan},
      {"c is a pole", inlay_s_hyp2f1, 1, 1, -2, 0.5, kInf},
      {"ends before", inlay_s_hyp2f1, -1, 1, -2, 0.5, 1.25},
      {"a is c", inlay_s_hyp2f1, -2, 3, -2, 0.5, 8},
      {"ends at its pole", inlay_s_hyp2f1, 3, -2, -2, 0.5, 4},
      {"Legendre's of degree 40 at 0", inlay_s_hyp2f1, -40, 41, 1, 0.5, 137846528820 * 0x1p-40},
      {"ends behind", inlay_s_hyp2f1, -3, 1, -2, 0.5, kInf},
      {"beyond 1", inlay_s_hyp2f1, 1, 2, 3, 2, kInf},
      {"ends, beyond 1", inlay_s_hyp2f1, -1, 2, 4, 3, -0.5},
      {"1", inlay_s_hyp2f1, 1, 1, 3, 1, 2},
      {"1, infinite", inlay_s_hyp2f1, 1, 1, 2, 1, kInf},
      {"a root", inlay_s_hyp2f1, 1.5, -0.5, 0.5, 0.5, 0},
      {"infinite c", inlay_s_hyp2f1, 1, 2, kInf, 0.5, 1},
      {"infinite a and c at 1", inlay_s_hyp2f1, kInf, 2, kInf, 1, kNan},
      {"less than any number", inlay_s_hyp2f1, 26.5, 25.25, -13.0625, -1e14, 0},
  };
  for (const Four& row : rows) {
    const double got = row.function(row.a, row.b, row.c, row.d);
    EXPECT_TRUE(same(got, row.want)) << row.name << ": " << got;
  }
}

TEST(SpecialFunctions, OfOneOperandHaveTheirCorners) {
  const One rows[] = {
      {"ndtr", inlay_s_ndtr, -kInf, 0},  {"ndtr", inlay_s_ndtr, kInf, 1},   {"logit", inlay_s_logit, 0, -kInf},
      {"logit", inlay_s_logit, 1, kInf}, {"logit", inlay_s_logit, 2, kNan}, {"logit", inlay_s_logit, -1, kNan},
      {"logit", inlay_s_logit, 0.5, 0},  {"i0", inlay_s_i0, 0, 1},          {"i0", inlay_s_i0, -kInf, kInf},
      {"i0", inlay_s_i0, 1e300, kInf},   {"i1", inlay_s_i1, -0.0, -0.0},    {"i1", inlay_s_i1, -kInf, -kInf},
      {"j0", inlay_s_j0, kInf, 0},       {"j1", inlay_s_j1, 0, 0},
  };
  for (const One& row : rows) {
    EXPECT_TRUE(same(row.function(row.x), row.want)) << row.name << "(" << row.x << ") is " << row.function(row.x);
  }
}

TEST(SpecialFunctions, OfTwoOperandsHaveTheirCorners) {
  const Two rows[] = {
      {"xlogy", inlay_s_xlogy, 0, 0, 0},
      {"xlogy", inlay_s_xlogy, 0, kNan, kNan},
      {"xlogy", inlay_s_xlogy, 1, 0, -kInf},
      {"xlog1py", inlay_s_xlog1py, 0, -1, 0},
      {"xlog1py", inlay_s_xlog1py, 1, -1, -kInf},
      {"logaddexp", inlay_s_logaddexp, -kInf, -kInf, -kInf},
      {"logaddexp", inlay_s_logaddexp, -kInf, 0, 0},
      {"logaddexp", inlay_s_logaddexp, kInf, -kInf, kInf},
      {"logaddexp", inlay_s_logaddexp, kInf, kNan, kNan},
      {"beta", inlay_s_beta, 0, 2, kInf},
      {"beta", inlay_s_beta, -2, 2, 0.5},
      {"beta", inlay_s_beta, -2, 1, -0.5},
      {"beta", inlay_s_beta, -2, 3, kInf},
      {"beta", inlay_s_beta, 2, kInf, 0},
      {"lbeta", inlay_s_lbeta, 1, 1, 0},
      {"lbeta", inlay_s_lbeta, 0, 2, kInf},
      {"lbeta", inlay_s_lbeta, 2, kInf, -kInf},
      {"polygamma", inlay_s_polygamma, 0, 0, -kInf},
      {"polygamma", inlay_s_polygamma, 1, -1, kInf},
      {"polygamma", inlay_s_polygamma, 2, -1, -kInf},
      {"polygamma", inlay_s_polygamma, 2, kInf, -0.0},
      {"polygamma", inlay_s_polygamma, 1.5, 2, kNan},
      {"polygamma", inlay_s_polygamma, -1, 2, kNan},
      {"gammainc", inlay_s_gammainc, 0, 0, kNan},
      {"gammainc", inlay_s_gammainc, 0, 1, 1},
      {"gammainc", inlay_s_gammainc, 1, 0, 0},
      {"gammainc", inlay_s_gammainc, -1, 1, kNan},
      {"gammainc", inlay_s_gammainc, kInf, 1, 0},
      {"gammainc", inlay_s_gammainc, 1, kInf, 1},
      {"gammaincc", inlay_s_gammaincc, 0, 1, 0},
      {"gammaincc", inlay_s_gammaincc, 1, 0, 1},
      {"gammaincc", inlay_s_gammaincc, kInf, kInf, kNan},
      {"gammainc_da", inlay_s_gammainc_da, 2, 0, 0},
      {"gammainc_da", inlay_s_gammainc_da, -2, 1, kNan},
      {"gammaincinv", inlay_s_gammaincinv, 0, 0, 0},
      {"gammaincinv", inlay_s_gammaincinv, 0, 0.5, kNan},
      {"gammaincinv", inlay_s_gammaincinv, 2, 1, kInf},
      {"gammaincinv", inlay_s_gammaincinv, 2, 1.5, kNan},
      {"gammainccinv", inlay_s_gammainccinv, 2, 0, kInf},
      {"gammainccinv", inlay_s_gammainccinv, 2, 1, 0},
      {"gammainccinv", inlay_s_gammainccinv, -1, 0.5, kNan},
      {"owens_t", inlay_s_owens_t, 0, kInf, 0.25},
      {"owens_t", inlay_s_owens_t, 1, -0.0, -0.0},
      {"owens_t", inlay_s_owens_t, kInf, -1, -0.0},
      {"owens_t", inlay_s_owens_t, kNan, 0, kNan},
      {"jv", inlay_s_jv, 0, 0, 1},
      {"jv", inlay_s_jv, -0.5, 0, kInf},
      {"jv", inlay_s_jv, -1, 0, -0.0},
      {"jv", inlay_s_jv, 0.5, -1, kNan},
      {"jv", inlay_s_jv, 2.5, kInf, 0},
      {"jv", inlay_s_jv, -1000.5, 3, kInf},
      {"jv", inlay_s_jv, -1001.5, 3, -kInf},
      {"ive", inlay_s_ive, 0, -0.0, 1},
      {"ive", inlay_s_ive, -0.5, 0, kNan},
      {"ive", inlay_s_ive, 0.5, -1, kNan},
      {"ive", inlay_s_ive, -3, kInf, 0},
      {"ive", inlay_s_ive, 1e300, 1, 0},
      {"ive", inlay_s_ive, -3000000000.5, 1, kInf},
      {"ive", inlay_s_ive, -3000000001.5, 1, -kInf},
      {"kve", inlay_s_kve, 2, 0, kInf},
      {"kve", inlay_s_kve, 2, -1, kNan},
      {"kve", inlay_s_kve, 2, kInf, 0},
      {"kve", inlay_s_kve, 100, 5e-324, kInf},
      {"kve", inlay_s_kve, 1.5, 5e-324, kInf},
  };
  for (const Two& row : rows) {
    const double got = row.function(row.x, row.y);
    EXPECT_TRUE(same(got, row.want)) << row.name << "(" << row.x << ", " << row.y << ") is " << got;
  }
}

TEST(SpecialFunctions, BetaincHasItsCorners) {
  const Three rows[] = {
      {"betainc", inlay_s_betainc, 0, 0, 0.5, kNan},  {"betainc", inlay_s_betainc, 0, 1, 0.5, 1},
      {"betainc", inlay_s_betainc, 0, 1, 0, 0},       {"betainc", inlay_s_betainc, 1, 0, 0.5, 0},
      {"betainc", inlay_s_betainc, 1, kInf, 0.5, 1},  {"betainc", inlay_s_betainc, kInf, 1, 1, 1},
      {"betainc", inlay_s_betainc, 1, 1, 2, kNan},    {"betainc", inlay_s_betainc, -1, 1, 0.5, kNan},
      {"betainc", inlay_s_betainc, 2, 3, 1, 1},       {"betainc_da", inlay_s_betainc_da, 2, 3, 1, 0},
      {"betainc_db", inlay_s_betainc_db, 2, 3, 0, 0}, {"betainc_da", inlay_s_betainc_da, 0, 3, 0.5, kNan},
  };
  for (const Three& row : rows) {
    const double got = row.function(row.x, row.y, row.z);
    EXPECT_TRUE(same(got, row.want)) << row.name << "(" << row.x << ", " << row.y << ", " << row.z << ") is " << got;
  }
}

TEST(SpecialFunctions, BetaincOfLargeParameters) {
  const Three rows[] = {
      {"betainc", inlay_s_betainc, 1e30, 1e30, 0.5, 0.5},
      {"betainc", inlay_s_betainc, 1e16, 1e16, 0.5, 0.5},
      {"betainc", inlay_s_betainc, 1e10, 3e10, 0.25000216, 0x1.ae7a7a4e50769p-1},
      {"betainc", inlay_s_betainc, 1e8, 1e7, 0.909, 0x1.df3c835c9f745p-12},
      {"betainc", inlay_s_betainc, 1e300, 1e20, 0.3, 0},
      {"betainc", inlay_s_betainc, 1e20, 1e300, 0.3, 1},
      {"betainc", inlay_s_betainc, 2, 1e300, 1e-300, 0x1.0e95393a62190p-2},  // gammainc(2, 1)
      {"betainc", inlay_s_betainc, 1e30, 1e5, 1 - 0x1p-53, 0},
  };
  for (const Three& row : rows) {
    const double got = row.function(row.x, row.y, row.z);
    EXPECT_LE(std::fabs(got - row.want), 1e-10 * row.want)
        << row.name << "(" << row.x << ", " << row.y << ", " << row.z << ") is " << got << ", not " << row.want;
  }
}

// Where P(a, x) is less than half a unit of 1; and beside, where P is small but counts.
TEST(SpecialFunctions, GammainccIsOneLessWhatGammaincIs) {
  for (double a : {1.0, 2.0, 41.0, 2.5, 1000.0}) EXPECT_EQ(inlay_s_gammaincc(a, 1e-18), 1) << a;
  EXPECT_EQ(inlay_s_gammaincc(41, 0.3), 1);
  EXPECT_EQ(inlay_s_gammaincc(1, 0x1p-20), 0x1.ffffe00001000p-1);
  EXPECT_EQ(inlay_s_gammaincc(3, 0.5), 0x1.f8a22da3553d0p-1);
  EXPECT_NEAR(inlay_s_gammaincc(1e-8, 1e-10), 0x1.e214a9e859152p-23, 1e-20);  // P is no help where it is nearly 1
}

// As a product of powers and 1/B(a, b) its factor has 10 digits at 1e6, and none at 1e17.
TEST(SpecialFunctions, DerivativesOfBetaincByLargeParameters) {
  struct {
    double a, b, x, da, db;
  } const rows[] = {
      {1e6, 1e6, 0.5, -0x1.27cc4284ef741p-12, 0x1.27cc4284ef741p-12},
      {1e6, 2e6, 0.33325, -0x1.45f4d48479ed5p-12, 0x1.45e52d8d8aa3ep-13},
      {3e6, 1e6, 0.7505, -0x1.0bc725fe2f411p-17, 0x1.92340110f3c28p-16},
      {1e7, 5e8, 0.0196, -0x1.cf59c73c195b6p-15, 0x1.287be39ffde18p-20},
      {1e17, 1e17, 0.5, -8.9206205807638557e-10, 8.9206205807638557e-10},  // -1 / (2 sqrt(pi a))
  };
  for (const auto& row : rows) {
    // Half a unit of 1 - x moves the result by 3e-13 of it, two deviations away from the mean.
    EXPECT_NEAR(inlay_s_betainc_da(row.a, row.b, row.x), row.da, 1e-12 * std::fabs(row.da)) << row.a << " " << row.b;
    EXPECT_NEAR(inlay_s_betainc_db(row.a, row.b, row.x), row.db, 1e-12 * std::fabs(row.db)) << row.a << " " << row.b;
  }
  EXPECT_EQ(inlay_s_betainc_da(1e300, 1e6, 0.5), 0);
}

// Gamma functions of 1e10 have logarithms of 2e11, whose difference has five digits.
TEST(SpecialFunctions, BetaOfALargeAndANegativeOperand) {
  const Two rows[] = {
      {"beta", inlay_s_beta, 1e10, -2.5, -0x1.f471389333195p+82},
      {"beta", inlay_s_beta, -2.5, 1e10, -0x1.f471389333195p+82},
      {"beta", inlay_s_beta, 1e6, -7.25, 0x1.8a4faf75b3547p+133},
      {"beta", inlay_s_beta, 300, -0.5, -0x1.ea95205e6d070p+5},
      {"lbeta", inlay_s_lbeta, 1e10, -2.5, 0x1.cc112b6cce929p+5},
  };
  for (const Two& row : rows) {
    const double got = row.function(row.x, row.y);
    // Three units in the last place of the logarithm, which is 92 at most.
    EXPECT_LE(std::fabs(got - row.want), 4.3e-14 * std::fabs(row.want)) << row.name << row.x << " " << row.y << got;
  }
  EXPECT_EQ(inlay_s_beta(1e22, -1075.1), kInf);
  EXPECT_EQ(inlay_s_beta(9.99e21, -1074.9), -kInf);
  for (double x : {0.5, 2.0, -1.5, -3.0, 0.0, kInf, -kInf}) {  // poles and roots to the end
    EXPECT_TRUE(std::isnan(inlay_s_beta(x, -kInf))) << x;
    EXPECT_TRUE(std::isnan(inlay_s_beta(-kInf, x))) << x;
    EXPECT_TRUE(std::isnan(inlay_s_lbeta(x, -kInf))) << x;
  }
}

// Products of parameters, or the factor in front of the series, underflow; the result does not.
TEST(SpecialFunctions, BetaincNextToTheLeastNumber) {
  const Three rows[] = {
      {"betainc", inlay_s_betainc, 1e-300, 1e-300, 0.3, 0.5},
      {"betainc", inlay_s_betainc, 1e-300, 3e-300, 1e-5, 0.75},
      {"betainc", inlay_s_betainc, 1e-20, 1e-20, 0.3, 0.5},
      {"betainc", inlay_s_betainc, 1e-310, 2, 1e-300, 1},
      {"betainc", inlay_s_betainc, 2.5, 1e-300, 0.3, 0x1.1518ec3c05d9bp-1002},
      {"betainc", inlay_s_betainc, 2.5, 5e-310, 0.3, 0x0.002530fe1b93ep-1022},
      {"betainc", inlay_s_betainc, 240.75, 0.0375, 0.05322, 0x0.0079a38513cbcp-1022},
      {"betainc", inlay_s_betainc, 300.5, 2.5, 0.09, 0x0.0038b46cad325p-1022},
      {"betaincinv", inlay_s_betaincinv, 5.5, 1e-300, 1e-300, 0x1.e5a65d1f98d10p-1},
  };
  for (const Three& row : rows) {
    const double got = row.function(row.x, row.y, row.z);
    // Boost's own error, as in the middle of its range; and two of the smallest numbers.
    EXPECT_LE(std::fabs(got - row.want), 1e-13 * row.want + 1e-323)
        << row.name << "(" << row.x << ", " << row.y << ", " << row.z << ") is " << got << ", not " << row.want;
  }
}

TEST(SpecialFunctions, NdtriExpOfTheGreatestNumbers) {
  EXPECT_EQ(inlay_s_ndtri_exp(-1e308), -0x1.0e0551a9edea1p+512);  // -2 y is infinite
  EXPECT_EQ(inlay_s_ndtri_exp(-1.7e308), -0x1.601063a10905fp+512);
}

TEST(SpecialFunctions, QuantilesOfPartsThatAreHardlyNumbers) {
  EXPECT_NEAR(inlay_s_gammaincinv(300, 5e-324), 9.65, 0.05);
  EXPECT_NEAR(inlay_s_gammainccinv(1e4, 5e-324), 14354.5, 0.5);
  EXPECT_NEAR(inlay_s_gammainccinv(1e-310, 1e-310), 0.264737010451533, 1e-12);
}

// Boost's iterations throw here, or miss by many orders of magnitude. The wanted values are from the first term of the
// series, or mpmath and Arb.
TEST(SpecialFunctions, QuantilesThatBoostMisses) {
  const Three rows[] = {
      {"betaincinv", inlay_s_betaincinv, 3, 3, 1e-200, 1e-67},
      {"betaincinv", inlay_s_betaincinv, 0.5, 3, 1e-8, 2.8444444444444444e-17},
      {"betaincinv", inlay_s_betaincinv, 0.5, 2, 1e-10, 4.4444444444444444e-21},
      {"betaincinv", inlay_s_betaincinv, 2.5, 200, 1e-100, 8.0533632168854e-43},
      {"betaincinv", inlay_s_betaincinv, 10, 1e10, 1 - 0x1p-53, 6.11043899548e-9},
      {"betaincinv", inlay_s_betaincinv, 1e-10, 33.3, 1 - 0x1p-53, 0.28946414939},
  };
  for (const Three& row : rows) {
    const double got = row.function(row.x, row.y, row.z);
    // A guess is taken where it is right to 1e-11.
    EXPECT_NEAR(got / row.want, 1, 1e-10) << row.name << "(" << row.x << ", " << row.y << ", " << row.z << ")";
  }
  // By the part above, which has digits where the part below is nearly 1.
  EXPECT_NEAR(inlay_s_gammaincinv(1e8, 1 - 0x1p-53) / 100082117.495054, 1, 1e-12);
  EXPECT_NEAR(inlay_s_gammaincinv(1.01e6, 1 - 1e-12) / 1017085.7414367, 1, 1e-12);
  EXPECT_NEAR(inlay_s_gammainccinv(1172359.77271, 1 - 0x1p-53) / 1163492.97057, 1, 1e-11);
  // Subnormal numbers, which have as many digits as they have.
  EXPECT_NEAR(inlay_s_gammaincinv(0.8032403877521922, 9.652402933600206e-254), 9.30546e-316, 1e-320);
}

TEST(SpecialFunctions, CornersOfBetaPolygammaAndOthers) {
  EXPECT_DOUBLE_EQ(inlay_s_lbeta(1e-305, 1e-305), 702.98160054374389);
  EXPECT_DOUBLE_EQ(inlay_s_lbeta(1e-305, 3e-305), 702.57613543563573);
  EXPECT_DOUBLE_EQ(inlay_s_beta(1e-300, -33.3), 1e300);
  EXPECT_EQ(inlay_s_polygamma(100, -1e-100), kInf);
  EXPECT_EQ(inlay_s_polygamma(171, -0.5), kInf);
  EXPECT_EQ(inlay_s_polygamma(1000, -0.9), kInf * -1);
  EXPECT_FALSE(std::signbit(inlay_s_ndtri(0.5)));
  EXPECT_EQ(inlay_s_jv(-5e-324, 2), inlay_s_jv(0, 2));
  EXPECT_DOUBLE_EQ(inlay_s_jv(-1e-310, 1e-310), 1);
  EXPECT_NEAR(inlay_s_kve(2, 1.79e308) / 9.3677e-155, 1, 1e-4);
}

TEST(SpecialFunctions, QuantilesNextToZero) {
  EXPECT_EQ(inlay_s_gammaincinv(1e-309, 0.5), 0);  // 0.5^1e309
  EXPECT_EQ(inlay_s_gammaincinv(5e-324, 0.9999), 0);
  EXPECT_EQ(inlay_s_gammainccinv(1e-315, 0.25), 0);
  EXPECT_EQ(inlay_s_gammaincinv(0.01, 1e-300), 0);
  EXPECT_EQ(inlay_s_betaincinv(0.5, 0.5, 1e-300), 0);
  EXPECT_EQ(inlay_s_betaincinv(1e-300, 1e-300, 0.5), 0.5);
  EXPECT_EQ(inlay_s_betaincinv(1e-20, 1e-20, 0.5), 0.5);
  EXPECT_EQ(inlay_s_betaincinv(1, 1, 5e-324), 5e-324);  // the part below x is x
}

// A series or a fraction that never converges would hang a program.
constexpr double kSlower = INLAY_SANITIZED ? 20 : 1;

/// CPU seconds that 100 000 terms of a series take in the precision that hyp2f1 tries last, on this machine as it is
/// now.
double seconds_of_a_long_series() {
  using Number =
      boost::multiprecision::number<boost::multiprecision::cpp_bin_float<640, boost::multiprecision::digit_base_2>,
                                    boost::multiprecision::et_off>;
  const std::clock_t start = std::clock();
  Number term = 1, sum = 0;
  for (int i = 1; i <= 100'000; ++i) {
    term = term * Number(0.7 + i) / Number(1.3 + i);
    sum += term;
  }
  EXPECT_GT(sum, 0);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(SpecialFunctions, NoArgumentTakesLong) {
  const double values[] = {0,   1e-300, 1e-5, 0.3,  0.5,  0.999, 1,     2.5,  33,
                           1e3, 1e6,    1e10, 1e16, 1e30, 1e150, 1e308, kInf, kNan};
  const auto timed = [](const auto& call, const auto&... arguments) {
    const std::clock_t start = std::clock();
    call(arguments...);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (seconds < 0.05) return;
    EXPECT_LT(seconds, 4 * kSlower * seconds_of_a_long_series())
        << testing::PrintToString(std::make_tuple(arguments...));
  };
  for (double x : values) {
    for (double sign : {1.0, -1.0}) {
#define INLAY_TIME(name) timed(inlay_s_##name, sign* x);
      INLAY_SCALAR_UNARY(INLAY_TIME)
#undef INLAY_TIME
    }
    for (double y : values) {
#define INLAY_TIME(name) timed(inlay_s_##name, x, y);
      INLAY_SCALAR_BINARY(INLAY_TIME)
#undef INLAY_TIME
      for (double z : values) {
#define INLAY_TIME(name) timed(inlay_s_##name, x, y, z);
        INLAY_SCALAR_TERNARY(INLAY_TIME)
#undef INLAY_TIME
      }
    }
  }
}

TEST(SpecialFunctions, NoArgumentOfHyp2f1TakesLong) {
  const double values[] = {-1e300, -1e5, -33.3, -1, 0.3, 2.5, 1e3, 1e6, 1e300, kInf};
  const double points[] = {-kInf, -1e300, -1, 0.5, 0.999, 1 - 0x1p-53, 1};
  for (double a : values) {
    for (double b : values) {
      for (double c : values) {
        for (double z : points) {
          const std::clock_t start = std::clock();
          inlay_s_hyp2f1(a, b, c, z);
          const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
          if (seconds < 0.5) continue;
          // A few series of so many terms are tried, and no more: up to six times as long was measured.
          EXPECT_LT(seconds, 12 * kSlower * seconds_of_a_long_series()) << a << " " << b << " " << c << " " << z;
        }
      }
    }
  }
}

// The differences of P over steps of 1 take over at a = 1e6; on both sides the slope is that of the normal distribution
// up to 1 / a.
TEST(SpecialFunctions, GammaincDaIsSmoothWhereItsFormulaChanges) {
  for (double z : {-3.0, -1.0, 0.0, 0.5, 2.0}) {
    const double below = inlay_s_gammainc_da(999'999, 999'999 + 1000 * z);
    const double above = inlay_s_gammainc_da(1'000'001, 1'000'001 + 1000 * z);
    EXPECT_LE(std::fabs(above / below - 1), 1e-5) << z;
  }
}

}  // namespace
}  // namespace inlay
