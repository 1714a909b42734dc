// The inverses of the regularized incomplete gamma and beta functions by their last operand: quantiles.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

using inlay::Quiet;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Parameters for which Boost's iterations find their way.
bool is_moderate(double a) { return a >= 1e-4 && a <= 1e6; }

/// The least x of [0, 1] with betainc(a, b, x) >= p, by halving the doubles in between.
double betaincinv_by_halves(double a, double b, double p) {
  uint64_t low = 0, high = std::bit_cast<uint64_t>(1.0);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (inlay_s_betainc(a, b, std::bit_cast<double>(middle)) >= p) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::bit_cast<double>(low);
}

}  // namespace

extern "C" {

double inlay_s_gammaincinv(double a, double p) noexcept {
  if (!(a >= 0 && p >= 0 && p <= 1)) return kNan;
  if (p == 0) return 0;
  if (p == 1) return kInf;
  if (a == 0 || std::isinf(a)) return kNan;
  return boost::math::gamma_p_inv(a, p, Quiet());
}

double inlay_s_gammainccinv(double a, double q) noexcept {
  if (!(a >= 0 && q >= 0 && q <= 1)) return kNan;
  if (q == 0) return kInf;
  if (q == 1) return 0;
  if (a == 0 || std::isinf(a)) return kNan;
  return boost::math::gamma_q_inv(a, q, Quiet());
}

double inlay_s_betaincinv(double a, double b, double p) noexcept {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return kNan;
  if (p == 0 || p == 1) return p == 1 ? 1 : 0;
  if (std::isinf(a) || std::isinf(b)) return kNan;
  if (!is_moderate(a) || !is_moderate(b) || p < 1e-290) return betaincinv_by_halves(a, b, p);
  return boost::math::ibeta_inv(a, b, p, Quiet());
}

}  // extern "C"
