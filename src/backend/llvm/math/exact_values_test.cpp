#include "backend/llvm/math/exact_values_test.h"

#ifdef INLAY_HAS_MPFR
#include <cmath>
#include <map>
#include <stdexcept>

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

const std::map<std::string, Unary> kComposed = {
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
