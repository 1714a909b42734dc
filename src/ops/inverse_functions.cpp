// The inverses of the regularized incomplete gamma and beta functions by their last operand: quantiles.
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <numbers>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "ops/betaincc.h"
#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

using inlay::Quiet;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr double kLeast = std::numeric_limits<double>::denorm_min();

/// The minimum x of [0, most] with `is_beyond(x)`, by halving the doubles in between.
template <class Predicate>
double by_halves(double most, const Predicate& is_beyond) {
  uint64_t low = 0, high = std::bit_cast<uint64_t>(most);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (is_beyond(std::bit_cast<double>(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::bit_cast<double>(low);
}

/// Asks for the x in [0, most] that has p below it and q above, p + q = 1, by the smaller of them, which has the
/// digits. Next to 0 the part below x grows as x^a.
template <class Below, class Above>
class Quantile {
 public:
  Quantile(double most, double a, Below below, Above above, double p, double q)
      : most_(most), a_(a), below_(below), above_(above), p_(p), q_(q), by_below_(p <= q) {}

  /// `guess` where that is the quantile, else found by halving.
  double nearest_to(double guess) const {
    if (solves(guess)) return guess;
    const double x = by_halves(most_, [&](double x) { return is_beyond(x); });
    return x == kLeast && is_nearer_to_zero() ? 0 : x;
  }

 private:
  bool is_beyond(double x) const {
    if (x == 0 || x == most_) return x != 0;
    return by_below_ ? below_(x) >= p_ : above_(x) <= q_;
  }

  /// Where the distribution is flat many x solve the equation as well; where it is steep hardly one does. A guess that
  /// is a small number may be one that underflowed on its way.
  bool solves(double guess) const {
    constexpr double kNear = 1e-11, kLeastGuess = 1e-290;
    if (!(guess > kLeastGuess && guess <= most_)) return false;
    const double part = by_below_ ? below_(guess) : above_(guess), wanted = std::fmin(p_, q_);
    if (std::fabs(part - wanted) <= 0.1 * kNear * wanted) return true;
    return !is_beyond(guess * (1 - kNear)) && is_beyond(std::fmin(guess * (1 + kNear), most_));
  }

  /// Is the quantile, which is at most kLeast, less than half of that?
  bool is_nearer_to_zero() const {
    const double below = below_(kLeast);
    const double upper_half = -std::expm1(-a_ * std::numbers::ln2) * below;
    return (by_below_ ? below - p_ : q_ - above_(kLeast)) > upper_half;
  }

  double most_, a_;
  Below below_;
  Above above_;
  double p_, q_;
  bool by_below_;
};

/// What Boost finds; nan where its root finders throw, which they do whatever the policy says.
template <class Call>
double guessed(const Call& boosts) {
  try {
    return boosts();
  } catch (const std::exception&) {
    return kNan;
  }
}

auto quantile_of_gamma(double a, double p, double q) {
  return Quantile(
      kInf, a, [a](double x) { return inlay_s_gammainc(a, x); }, [a](double x) { return inlay_s_gammaincc(a, x); }, p,
      q);
}

constexpr double kLargest = 1e6;  // parameter for which Boost's iterations end soon

}  // namespace

extern "C" {

double inlay_s_gammaincinv(double a, double p) noexcept {
  if (!(a >= 0 && p >= 0 && p <= 1)) return kNan;
  if (p == 0) return 0;
  if (p == 1) return kInf;
  if (a == 0 || std::isinf(a)) return kNan;
  const double guess = a <= kLargest ? guessed([&] { return boost::math::gamma_p_inv(a, p, Quiet()); }) : kNan;
  return quantile_of_gamma(a, p, 1 - p).nearest_to(guess);
}

double inlay_s_gammainccinv(double a, double q) noexcept {
  if (!(a >= 0 && q >= 0 && q <= 1)) return kNan;
  if (q == 0) return kInf;
  if (q == 1) return 0;
  if (a == 0 || std::isinf(a)) return kNan;
  const double guess = a <= kLargest ? guessed([&] { return boost::math::gamma_q_inv(a, q, Quiet()); }) : kNan;
  return quantile_of_gamma(a, 1 - q, q).nearest_to(guess);
}

double inlay_s_betaincinv(double a, double b, double p) noexcept {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return kNan;
  if (p == 0 || p == 1) return p == 1 ? 1 : 0;
  if (std::isinf(b) && a == 1) return 0;  // as SciPy, of 1 alone
  if (std::isinf(a) && b == 1) return 1;
  if (std::isinf(a) || std::isinf(b)) return kNan;
  if (a == b && p == 0.5) return 0.5;  // also where a and b are so small that the part below is 0.5 nearly everywhere
  const Quantile quantile(
      1, a, [=](double x) { return inlay_s_betainc(a, b, x); }, [=](double x) { return inlay::betaincc(a, b, x); }, p,
      1 - p);
  constexpr double kSmallest = 1e-4;
  const bool may_guess = std::fmin(a, b) >= kSmallest && std::fmax(a, b) <= kLargest;
  return quantile.nearest_to(may_guess ? guessed([&] { return boost::math::ibeta_inv(a, b, p, Quiet()); }) : kNan);
}

}  // extern "C"
