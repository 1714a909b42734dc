#include "backend/llvm/math/math_functions_test.h"

#include <cmath>

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/trigamma.hpp>

namespace inlay::llvm_backend {
namespace {

long double sigmoid(long double x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
long double log1mexp(long double x) { return x < -0.693L ? log1pl(-expl(x)) : logl(-expm1l(x)); }
long double softplus(long double x) { return fmaxl(x, 0) + log1pl(expl(-fabsl(x))); }

long double logit(long double x) {
  return x > 0.25L && x < 0.75L ? log1pl(2 * x - 1) - log1pl(1 - 2 * x) : logl(x) - log1pl(-x);
}
/// erfc(-x / sqrt 2) / 2, with what the quotient loses: in the tail it is multiplied by x^2.
long double ndtr(long double x) {
  const long double z = x * -0.70710678118654752440L, lost = fmal(x, -0.70710678118654752440L, -z);
  const long double more = 1.12837916709551257390L * expl(-z * z) * (lost - x * 1.895032558893252e-20L);
  return (erfcl(z) - (std::isinf(x) ? 0 : more)) / 2;
}
long double erfcx(long double x) {
  const long double square = x * x;
  return expl(square) * (1 + fmal(x, x, -square)) * erfcl(x);
}
long double log_ndtr(long double x) { return x < 0 ? logl(ndtr(x)) : log1pl(-ndtr(-x)); }

bool erfcx_domain(double x) { return x > -26 && x < 28; }
bool log_ndtr_domain(double x) { return x > -37; }
bool small_angle(double x) { return std::fabs(x) < 524288; }
bool not_negative(double x) { return !(x < 0); }
long double lgamma_of_positive(long double x) { return x == 1 || x == 2 ? 0 : lgammal(x); }
long double digamma_of_positive(long double x) {
  if (x == 0) return std::copysign(kInf, -x);
  return std::isinf(x) ? x : boost::math::digamma(x);
}

long double trigamma_of_positive(long double x) {
  if (fabsl(x) < 1e-160L) return kInf;
  return std::isinf(x) ? 0 : boost::math::trigamma(x);
}
long double erfinv(long double x) {
  if (!(fabsl(x) < 1)) return fabsl(x) == 1 ? x * kInf : kNan;
  return fabsl(x) < 1e-300L ? x * 0.88622692545275801365L : boost::math::erf_inv(x);
}
long double erfcinv(long double x) {
  if (!(x > 0 && x < 2)) return x == 0 ? kInf : x == 2 ? -kInf : kNan;
  return boost::math::erfc_inv(x);
}
long double ndtri(long double p) { return -1.41421356237309504880L * erfcinv(2 * p) + 0.0L; }
long double i0(long double x) { return fabsl(x) > 720 ? fabsl(x) * kInf : boost::math::cyl_bessel_i(0, fabsl(x)); }
long double i1(long double x) {
  if (x == 0) return x;
  return fabsl(x) > 720 ? x * kInf : copysignl(boost::math::cyl_bessel_i(1, fabsl(x)), x);
}

long double logaddexp(long double x, long double y) { return fmaxl(x, y) + log1pl(expl(-fabsl(x - y))); }

/// For v = 0, 1 or -1; from 1000 on by Hankel's expansion, whose terms fall by that.
long double ive(long double v, long double x) {
  const long double y = fabsl(x), sign = x < 0 && v != 0 ? -1 : 1;
  if (y < 1000) return sign * expl(-y) * boost::math::cyl_bessel_i(fabsl(v), y);
  long double sum = 1, term = 1;
  for (int k = 1; k < 10; ++k) sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * v * v) / (8 * k * y);
  return sign * sum / sqrtl(6.28318530717958647693L * y);
}

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"exp", expl, 0.8, {{-745, 710}, {-1, 1}, {-0.1, 0.1}, {1e-300, 1, Range::exponent}, {-745.2, -700}}},
      {"log", logl, 0.75, {{0, 4}, {0.9, 1.1}, {0.999, 1.001}, {kTiny, kLargest, Range::exponent}, {0, 1e3}}},
      {"log1p",
       log1pl,
       0.8,
       {{-1, 4}, {-0.1, 0.1}, {-1e-3, 1e-3}, {-0.9, 1e300, Range::exponent}, {1e-17, 1e-14, Range::exponent}}},
      {"expm1",
       expm1l,
       0.8,
       {{-50, 710}, {-1, 1}, {-0.1, 0.1}, {-0.8, 0.8, Range::exponent}, {30, 40}, {709, 709.7827}}},
      {"log1mexp", log1mexp, 1.4, {{-60, 0}, {-1, 0}, {-745, 0}, {-0.70, -0.68}, {-1e-3, 0}}},
      {"sigmoid", sigmoid, 0.8, {{-745, 50}, {-5, 5}, {-0.1, 0.1}, {-40, 40}, {-1, 1, Range::exponent}}},
      {"softplus", softplus, 0.8, {{-745, 800}, {-5, 5}, {-0.1, 0.1}, {-40, 40}, {-1, 1, Range::exponent}}},
      {"erf", erfl, 0.9, {{-7, 7}, {-0.5, 0.5}, {-1, 1, Range::exponent}}},
      {"erfc", erfcl, 1.3, {{-6, 28}, {-1, 1}, {26, 27.3}, {-1, 1, Range::exponent}}},
      {"lgamma",
       lgamma_of_positive,
       1.1,
       {{0, 10}, {0.9, 2.1}, {kTiny, kLargest, Range::exponent}, {8, 1e4}},
       not_negative},
      {"digamma",
       digamma_of_positive,
       1.2,
       {{0, 10}, {1.4, 1.5}, {1e-307, kLargest, Range::exponent}, {8, 1e4}},
       not_negative},
      {"sin", sinl, 0.95, {{-4, 4}, {-500, 500}, {-524288, 524288}, {-1, 1, Range::exponent}}, small_angle},
      {"cos", cosl, 0.9, {{-4, 4}, {-500, 500}, {-524288, 524288}, {-1, 1, Range::exponent}}, small_angle},
      {"tanh", tanhl, 0.7, {{-25, 25}, {-1, 1}, {-0.1, 0.1}, {-1, 1, Range::exponent}}},
      {"exp2", exp2l, 0.8, {{-1075, 1024}, {-1, 1}, {-0.1, 0.1}, {-1, 1, Range::exponent}, {-1075, -1000}}},
      {"log2", log2l, 0.75, {{0, 4}, {0.9, 1.1}, {0.999, 1.001}, {kTiny, kLargest, Range::exponent}}},
      {"log10", log10l, 0.75, {{0, 4}, {0.9, 1.1}, {0.999, 1.001}, {kTiny, kLargest, Range::exponent}}},
      {"sqrt", sqrtl, 0.501, {{0, 4}, {kTiny, kLargest, Range::exponent}, {0, 1e-300}, {0, 1e-310}}},
      {"cbrt", cbrtl, 0.52, {{-8, 8}, {-kLargest, kLargest, Range::exponent}, {0, 1e-300}}},
      {"logit", logit, 0.7, {{0, 1}, {0.49, 0.51}, {kTiny, 0.5, Range::exponent}}},
      {"sinh", sinhl, 0.85, {{-711, 711}, {-900, 900}, {-4, 4}, {-1.1, 1.1}, {-1, 1, Range::exponent}}},
      {"cosh", coshl, 0.95, {{-711, 711}, {-900, 900}, {-4, 4}}},
      {"arcsinh", asinhl, 1, {{-4, 4}, {-0.1, 0.1}, {-kLargest, kLargest, Range::exponent}}},
      {"arccosh", acoshl, 0.8, {{1, 4}, {1, 1.01}, {1, kLargest, Range::exponent}}},
      {"arctanh", atanhl, 1.01, {{-1, 1}, {-0.1, 0.1}, {-1, 1, Range::exponent}}},
      {"arctan", atanl, 1.45, {{-8, 8}, {-0.2, 0.2}, {-kLargest, kLargest, Range::exponent}}},
      {"arcsin", asinl, 0.9, {{-1, 1}, {-0.1, 0.1}, {0.45, 0.55}, {0.99, 1}, {-1, 1, Range::exponent}}},
      {"arccos", acosl, 0.9, {{-1, 1}, {0.9, 1}, {-0.55, -0.45}, {0.45, 0.55}, {-1e-3, 1e-3}}},
      {"tan", tanl, 1.2, {{-4, 4}, {-500, 500}, {-524288, 524288}, {-1, 1, Range::exponent}}, small_angle},
      {"ndtr", ndtr, 0.95, {{-38, 9}, {-4, 4}, {-1, 1}, {-1, 1, Range::exponent}}},
      {"erfcx", erfcx, 1, {{-26, 28}, {-4, 4}, {-1, 1, Range::exponent}}, erfcx_domain, 1.1},
      {"log_ndtr",
       log_ndtr,
       1.5,
       {{-37, 9}, {-4, 4}, {8, 38}, {37, 39}, {-1.1, -0.9}, {-1, 1, Range::exponent}},
       log_ndtr_domain},
      {"erfinv", erfinv, 1, {{-1, 1}, {-0.1, 0.1}, {0.99, 1}, {-1, 1, Range::exponent}}, nullptr, 1.3},
      {"erfcinv", erfcinv, 1, {{0, 2}, {0.9, 1.1}, {1.9, 2}, {0, 0.1}, {kTiny, 1, Range::exponent}}},
      {"ndtri", ndtri, 1, {{0, 1}, {0.45, 0.55}, {0.95, 1}, {0, 0.1}, {kTiny, 0.5, Range::exponent}}},
      {"i0", i0, 0.95, {{-4, 4}, {-40, 40}, {-714, 714}, {-1, 1, Range::exponent}}},
      {"i1", i1, 1.05, {{-4, 4}, {-40, 40}, {-714, 714}, {-1, 1, Range::exponent}}},
      {"trigamma",
       trigamma_of_positive,
       0.95,
       {{0, 10}, {0, 1}, {8, 1e4}, {1e-154, kLargest, Range::exponent}},
       not_negative},
  };
  return all;
}

const std::vector<FunctionOfTwo>& functions_of_two() {
  constexpr Range any = {-kLargest, kLargest, Range::exponent}, near_0 = {-4, 4};
  static const std::vector<FunctionOfTwo> all = {
      {"pow",
       powl,
       0.85,
       0,
       {{{0.01, 100}, {-10, 10}},
        {{0.999, 1.001}, {-700'000, 700'000}},
        {{0.9, 1.1}, {-7000, 7000}},
        {{0, 10}, {-300, 300}},
        {{kTiny, kLargest, Range::exponent}, {-2, 2}},
        {{1, 2}, {-1074, 1074}},
        {{kTiny, kLargest, Range::exponent}, {-1e299, 1e299, Range::exponent}}}},
      {"arctan2",
       atan2l,
       1.3,
       0,
       {{near_0, near_0}, {{-1e145, 1e145, Range::exponent}, {-1e145, 1e145, Range::exponent}}}},
      {"xlogy",
       [](long double x, long double y) { return x * logl(y); },
       1.3,
       0,
       {{near_0, {0, 4}}, {{1, 2}, {0.9, 1.1}}, {any, {kTiny, kLargest, Range::exponent}}}},
      {"xlog1py",
       [](long double x, long double y) { return x * log1pl(y); },
       1.3,
       0,
       {{near_0, {-1, 4}}, {{1, 2}, {-0.1, 0.1}}, {any, {-0.9, kLargest, Range::exponent}}}},
      {"logaddexp", logaddexp, 0.7, 0.5, {{near_0, near_0}, {{-700, 700}, {-700, 700}}, {any, any}}},
      {"ive",
       ive,
       1.05,
       0,
       {{{0, 0}, {-40, 40}}, {{1, 1}, {-40, 40}}, {{-1, -1}, {-1e4, 1e4}}, {{0, 0}, any}, {{1, 1}, any}}},
  };
  return all;
}

}  // namespace inlay::llvm_backend
