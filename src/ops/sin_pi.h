#pragma once
#include <cmath>
#include <numbers>

namespace inlay {

/// sin(pi x), reduced exactly for every x. (Boost's counts the half turns in an int, which ends at 2^31.)
inline double sin_pi(double x) {
  const double rest = std::remainder(x, 1.0);
  const double sine = std::sin(std::numbers::pi * rest);
  return std::fmod(x - rest, 2) != 0 ? -sine : sine;
}

}  // namespace inlay
