#include <math.h>

/* Left of 0: digamma(1 - x) - pi / tan(pi x), in long double, as the two cancel around roots. NaN at the poles. */
static double inlay_s_digamma(double x) {
  const long double pi = 3.14159265358979323846264338327950288L, from_pole = x - round(x);
  long double y = 1 - (long double)x, sum = 0;
  if (!(from_pole < 0 || from_pole > 0)) return NAN;
  for (; y < 20; y += 1) sum -= 1 / y;
  const long double t = 1 / (y * y);
  const long double series =
      t * (1 / 12.0L -
           t * (1 / 120.0L -
                t * (1 / 252.0L -
                     t * (1 / 240.0L - t * (1 / 132.0L - t * (691 / 32760.0L - t * (1 / 12.0L - t * 3617 / 8160)))))));
  const long double of_positive = sum + logl(y) - 1 / (2 * y) - series;
  return (double)(of_positive - pi * cosl(pi * from_pole) / sinl(pi * from_pole));
}

/* Left of 0: (pi / sin(pi x))^2 - trigamma(1 - x), whose first term is the greater by far. Infinite at the poles. */
static double inlay_s_trigamma(double x) {
  const long double pi = 3.14159265358979323846264338327950288L, from_pole = x - round(x);
  long double y = 1 - (long double)x, sum = 0;
  if (!(from_pole < 0 || from_pole > 0) || x > -1e-160) return isnan(x) ? x : INFINITY;
  for (; y < 20; y += 1) sum += 1 / (y * y);
  const long double t = 1 / (y * y);
  const long double series =
      t * (1 / 6.0L -
           t * (1 / 30.0L - t * (1 / 42.0L - t * (1 / 30.0L - t * (5 / 66.0L - t * (691 / 2730.0L - t * 7 / 6))))));
  const long double from_sine = pi / sinl(pi * from_pole);
  return (double)(from_sine * from_sine - (sum + (1 + 0.5L / y + series) / y));
}
