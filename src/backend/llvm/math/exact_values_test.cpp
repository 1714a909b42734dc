#include "backend/llvm/math/exact_values_test.h"

#ifdef INLAY_HAS_MPFR
#include <cmath>
#include <map>
#include <stdexcept>

#include <boost/math/special_functions/erf.hpp>
#include <mpfr.h>
#endif

namespace inlay::llvm_backend {

#ifndef INLAY_HAS_MPFR
bool has_exact_values() { return false; }
long double exact_value(const std::string& /*name*/, double /*x*/, double /*y*/) { return 0; }
#else
namespace {

/// A number of so many bits.
class Number {
 public:
  explicit Number(mpfr_prec_t bits, double x = 0) {
    mpfr_init2(value, bits);
    mpfr_set_d(value, x, MPFR_RNDN);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value); }
  operator mpfr_ptr() { return value; }

 private:
  mpfr_t value;
};

constexpr mpfr_rnd_t kRound = MPFR_RNDN;
constexpr mpfr_prec_t kBits = 100, kMoreBits = 180;  // more: where something cancels

/// r is not an operand, and has kMoreBits where the function is made of several.
using Unary = void (*)(mpfr_ptr r, mpfr_ptr x, mpfr_ptr work);
using Binary = void (*)(mpfr_ptr r, mpfr_ptr x, mpfr_ptr y);

#define ONE(name, function) {name, [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr /*work*/) { function(r, x, kRound); }}
const std::map<std::string, Unary> kFunctionsOfMpfr = {
    ONE("exp", mpfr_exp),       ONE("log", mpfr_log),       ONE("log1p", mpfr_log1p),    ONE("expm1", mpfr_expm1),
    ONE("erf", mpfr_erf),       ONE("erfc", mpfr_erfc),     ONE("lgamma", mpfr_lngamma), ONE("digamma", mpfr_digamma),
    ONE("sin", mpfr_sin),       ONE("cos", mpfr_cos),       ONE("tan", mpfr_tan),        ONE("tanh", mpfr_tanh),
    ONE("exp2", mpfr_exp2),     ONE("log2", mpfr_log2),     ONE("log10", mpfr_log10),    ONE("sqrt", mpfr_sqrt),
    ONE("cbrt", mpfr_cbrt),     ONE("sinh", mpfr_sinh),     ONE("cosh", mpfr_cosh),      ONE("arcsinh", mpfr_asinh),
    ONE("arccosh", mpfr_acosh), ONE("arctanh", mpfr_atanh), ONE("arctan", mpfr_atan),    ONE("arcsin", mpfr_asin),
    ONE("arccos", mpfr_acos),
};
#undef ONE

/// log(1 - x)
void log_of_rest(mpfr_ptr r, mpfr_ptr x) {
  mpfr_neg(r, x, kRound);
  mpfr_log1p(r, r, kRound);
}

/// ndtr(-|x|)
void normal_tail(mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
  mpfr_sqrt_ui(work, 2, kRound);
  mpfr_div(work, x, work, kRound);
  mpfr_abs(work, work, kRound);
  mpfr_erfc(r, work, kRound);
  mpfr_div_2ui(r, r, 1, kRound);
}

/// near - (f - wanted) / f', where the slope is `factor` e^(-near^2): one step of Newton's method from a value of some
/// 18 digits. r has f.
void newton_step(mpfr_ptr r, mpfr_ptr near, mpfr_ptr wanted, double factor) {
  Number slope(kMoreBits);
  mpfr_sub(r, r, wanted, kRound);
  mpfr_sqr(slope, near, kRound);
  mpfr_exp(slope, slope, kRound);
  mpfr_mul(r, r, slope, kRound);
  mpfr_const_pi(slope, kRound);
  mpfr_sqrt(slope, slope, kRound);
  mpfr_mul(r, r, slope, kRound);
  mpfr_div_d(r, r, factor, kRound);
  mpfr_sub(r, near, r, kRound);
}

/// erfinv(x), where `near` has room.
void erfinv(mpfr_ptr r, mpfr_ptr x, mpfr_ptr near) {
  const long double value = mpfr_get_ld(x, kRound);
  mpfr_set_ld(near, fabsl(value) < 1e-300L ? value * 0.886226925452758L : boost::math::erf_inv(value), kRound);
  mpfr_erf(r, near, kRound);
  newton_step(r, near, x, 2);
}

void erfcinv(mpfr_ptr r, mpfr_ptr x, mpfr_ptr near) {
  mpfr_set_ld(near, boost::math::erfc_inv(mpfr_get_ld(x, kRound)), kRound);
  mpfr_erfc(r, near, kRound);
  newton_step(r, near, x, -2);
}

/// I_n(x) e^-x for n = 0 or 1 and x >= 0: the series around 0, all of whose terms are positive, or Hankel's, whose
/// terms fall from 100 on to e^(-2x).
void scaled_bessel_i(mpfr_ptr r, int n, mpfr_ptr x) {
  Number term(kMoreBits, 1), work(kMoreBits);
  const bool is_large = mpfr_cmp_ui(x, 100) > 0;
  mpfr_set_ui(r, 1, kRound);
  mpfr_sqr(work, x, kRound);
  mpfr_div_2ui(work, work, 2, kRound);
  for (unsigned long k = 1; k < 1000; ++k) {
    if (is_large) {
      mpfr_mul_si(term, term, static_cast<long>((2 * k - 1) * (2 * k - 1)) - 4 * n, kRound);
      mpfr_div_ui(term, term, 8 * k, kRound);
      mpfr_div(term, term, x, kRound);
    } else {
      mpfr_mul(term, term, work, kRound);
      mpfr_div_ui(term, term, k * (k + static_cast<unsigned long>(n)), kRound);
    }
    mpfr_add(r, r, term, kRound);
    if (mpfr_zero_p(term) || mpfr_get_exp(term) < mpfr_get_exp(r) - kBits - 10) break;
  }
  if (is_large) {
    mpfr_const_pi(work, kRound);
    mpfr_mul(work, work, x, kRound);
    mpfr_mul_2ui(work, work, 1, kRound);
    mpfr_sqrt(work, work, kRound);
    mpfr_div(r, r, work, kRound);
  } else {
    mpfr_neg(work, x, kRound);
    mpfr_exp(work, work, kRound);
    mpfr_mul(r, r, work, kRound);
    if (n == 1) mpfr_mul(r, r, x, kRound), mpfr_div_2ui(r, r, 1, kRound);
  }
}

/// I_n(x)
void bessel_i(mpfr_ptr r, int n, mpfr_ptr x, mpfr_ptr work) {
  const bool is_negative = mpfr_signbit(x) != 0;
  mpfr_abs(x, x, kRound);
  scaled_bessel_i(r, n, x);
  mpfr_exp(work, x, kRound);
  mpfr_mul(r, r, work, kRound);
  if (n == 1 && is_negative) mpfr_neg(r, r, kRound);
}

/// trigamma(x) = trigamma(x + 1) + 1 / x^2 up to 64, and 1/y + 1/(2 y^2) + sum B_2k / y^(2k + 1) from there.
void trigamma(mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
  constexpr double kBernoulli[][2] = {{1, 6},       {-1, 30}, {1, 42},      {-1, 30},     {5, 66},
                                      {-691, 2730}, {7, 6},   {-3617, 510}, {43867, 798}, {-174611, 330}};
  Number sum(kMoreBits, 0), power(kMoreBits), square(kMoreBits);
  for (; mpfr_cmp_ui(x, 64) < 0; mpfr_add_ui(x, x, 1, kRound)) {
    mpfr_sqr(work, x, kRound);
    mpfr_ui_div(work, 1, work, kRound);
    mpfr_add(sum, sum, work, kRound);
  }
  mpfr_ui_div(power, 1, x, kRound);
  mpfr_sqr(square, power, kRound);
  mpfr_add(sum, sum, power, kRound);
  mpfr_div_2ui(work, square, 1, kRound);
  mpfr_add(r, sum, work, kRound);
  for (const auto& [numerator, denominator] : kBernoulli) {
    mpfr_mul(power, power, square, kRound);
    mpfr_mul_d(work, power, numerator, kRound);
    mpfr_div_d(work, work, denominator, kRound);
    mpfr_add(r, r, work, kRound);
  }
}

const std::map<std::string, Unary> kComposed = {
    {"erfinv", erfinv},
    {"erfcinv", erfcinv},
    {"ndtri",
     [](mpfr_ptr r, mpfr_ptr p, mpfr_ptr work) {
       mpfr_mul_2ui(p, p, 1, kRound);
       erfcinv(r, p, work);
       mpfr_sqrt_ui(work, 2, kRound);
       mpfr_mul(r, r, work, kRound);
       mpfr_neg(r, r, kRound);
     }},
    {"i0", [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) { bessel_i(r, 0, x, work); }},
    {"i1", [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) { bessel_i(r, 1, x, work); }},
    {"trigamma", trigamma},
    {"sigmoid",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
       mpfr_neg(work, x, kRound);
       mpfr_exp(work, work, kRound);
       mpfr_add_ui(work, work, 1, kRound);
       mpfr_ui_div(r, 1, work, kRound);
     }},
    {"softplus",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
       mpfr_exp(work, x, kRound);
       mpfr_log1p(r, work, kRound);
     }},
    {"log1mexp",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
       mpfr_expm1(work, x, kRound);
       mpfr_neg(work, work, kRound);
       if (mpfr_cmp_d(x, -0.5) > 0) {
         mpfr_log(r, work, kRound);
       } else {
         mpfr_exp(work, x, kRound);
         log_of_rest(r, work);
       }
     }},
    {"logit",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
       log_of_rest(work, x);
       mpfr_log(r, x, kRound);
       mpfr_sub(r, r, work, kRound);
     }},
    {"ndtr",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
       normal_tail(r, x, work);
       if (mpfr_sgn(x) > 0) mpfr_ui_sub(r, 1, r, kRound);
     }},
    {"log_ndtr",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
       normal_tail(r, x, work);
       if (mpfr_sgn(x) > 0) {
         log_of_rest(r, r);
       } else {
         mpfr_log(r, r, kRound);
       }
     }},
    {"erfcx",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr work) {
       mpfr_sqr(work, x, kRound);
       mpfr_exp(work, work, kRound);
       mpfr_erfc(r, x, kRound);
       mpfr_mul(r, r, work, kRound);
     }},
};

const std::map<std::string, Binary> kOfTwo = {
    {"pow", [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) { mpfr_pow(r, x, y, kRound); }},
    {"arctan2", [](mpfr_ptr r, mpfr_ptr y, mpfr_ptr x) { mpfr_atan2(r, y, x, kRound); }},
    {"xlogy",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) {
       mpfr_log(r, y, kRound);
       mpfr_mul(r, x, r, kRound);
     }},
    {"xlog1py",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) {
       mpfr_log1p(r, y, kRound);
       mpfr_mul(r, x, r, kRound);
     }},
    {"ive",
     [](mpfr_ptr r, mpfr_ptr v, mpfr_ptr x) {
       const bool is_negative = mpfr_signbit(x) != 0, is_odd = !mpfr_zero_p(v);
       mpfr_abs(x, x, kRound);
       scaled_bessel_i(r, is_odd ? 1 : 0, x);
       if (is_odd && is_negative) mpfr_neg(r, r, kRound);
     }},
    {"logaddexp",
     [](mpfr_ptr r, mpfr_ptr x, mpfr_ptr y) {
       if (mpfr_cmp(x, y) < 0) mpfr_swap(x, y);
       mpfr_sub(y, y, x, kRound);
       mpfr_exp(y, y, kRound);
       mpfr_log1p(y, y, kRound);
       mpfr_add(r, x, y, kRound);
     }},
};

}  // namespace

bool has_exact_values() { return true; }

long double exact_value(const std::string& name, double x, double y) {
  if (const auto found = kFunctionsOfMpfr.find(name); found != kFunctionsOfMpfr.end()) {
    Number r(kBits), operand(kBits, x);
    found->second(r, operand, r);
    return mpfr_get_ld(r, kRound);
  }
  Number r(kMoreBits), first(kMoreBits, x), second(kMoreBits, y);
  if (const auto found = kComposed.find(name); found != kComposed.end()) {
    found->second(r, first, second);
  } else if (const auto of_two = kOfTwo.find(name); of_two != kOfTwo.end()) {
    of_two->second(r, first, second);
  } else {
    throw std::invalid_argument("no exact values of " + name);
  }
  return mpfr_get_ld(r, kRound);
}
#endif

}  // namespace inlay::llvm_backend
