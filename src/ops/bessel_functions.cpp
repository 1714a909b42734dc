// Bessel functions of integer order.
#include <cmath>
#include <limits>

#include <boost/math/special_functions/bessel.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kOverflows = 714;  // from here on i0 and i1 are beyond every double

}  // namespace

extern "C" {

double inlay_s_i0(double x) noexcept {
  if (std::isnan(x)) return x;
  if (std::fabs(x) > kOverflows) return kInf;
  return boost::math::cyl_bessel_i(0, std::fabs(x), inlay::Quiet());
}

double inlay_s_i1(double x) noexcept {
  if (std::isnan(x) || x == 0) return x;
  const double size = std::fabs(x) > kOverflows ? kInf : boost::math::cyl_bessel_i(1, std::fabs(x), inlay::Quiet());
  return std::copysign(size, x);
}

double inlay_s_j0(double x) noexcept { return ::j0(x); }
double inlay_s_j1(double x) noexcept { return ::j1(x); }

}  // extern "C"
