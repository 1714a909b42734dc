#include "ops/element_types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace inlay {

float widen(Half x) {
  const int exponent = (x.bits >> 10) & 31, digits = x.bits & 1023;
  const float sign = x.bits & 0x8000 ? -1.0F : 1.0F;
  if (exponent == 31) {
    const float infinity = std::numeric_limits<float>::infinity();
    return digits ? std::copysign(std::numeric_limits<float>::quiet_NaN(), sign) : sign * infinity;
  }
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(digits), -24)
                               : std::ldexp(static_cast<float>(1024 + digits), exponent - 25));
}

Half half_of(double x) {
  constexpr double kOverflow = 65520;  // half way from the largest, 65504, to 2^16
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (magnitude >= kOverflow) return {static_cast<uint16_t>(sign | 0x7c00)};
  if (magnitude == 0) return {static_cast<uint16_t>(sign)};
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit =
      std::max(exponent - 11, -24);  // of the last digit; subnormal numbers share that of the smallest normal
  // In units it is a whole number up to 2048, and that carries into the exponent where rounding makes it so.
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, -unit)));
  return {static_cast<uint16_t>(sign | ((static_cast<unsigned>(unit + 24) << 10) + units))};
}

float widen(BFloat16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }

BFloat16 bfloat16_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return {static_cast<uint16_t>((bits | 0x400000) >> 16)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

}  // namespace inlay
