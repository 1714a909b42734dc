#pragma once

namespace inlay {

/// 1 - inlay_s_betainc(a, b, x) with all its digits, for positive finite a and b and 0 < x < 1.
double betaincc(double a, double b, double x) noexcept;

}  // namespace inlay
