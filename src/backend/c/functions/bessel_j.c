#include <math.h>

/* Hankel's expansions for the order 0 or 1 (DLMF 10.17.3): sqrt(2 / (pi x)) (p cos - q sin) of the phase. */
static double bessel_j_of_large(int order, double x) {
  const double mu = 4.0 * order * order;
  double term = 1, p = 1, q = 0;
  for (int k = 1; k < 30; ++k) {
    const double next = term * (mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k) / x;
    if (!(fabs(next) > 0x1p-60)) break;
    term = next;
    if (k % 2 != 0) q += k % 4 == 1 ? term : -term;
    if (k % 2 == 0) p += k % 4 == 0 ? term : -term;
  }
  const double s = sin(x), c = cos(x); /* of the phases x - pi/4 and x - 3 pi/4, times the root of 2 */
  const double wave = order == 0 ? p * (c + s) - q * (s - c) : p * (s - c) + q * (s + c);
  return 0x1.20dd750429b6dp-1 / sqrt(x) * wave;
}

/* 0 <= x < 25. From 2 on by the recurrence backwards (Miller): J0 + 2 J2 + 2 J4 + ... is 1. */
static double bessel_j_of_small(int order, double x) {
  if (x < 2) {
    const double square = -0.25 * x * x;
    double term = order == 0 ? 1 : 0.5 * x, sum = term;
    for (int k = 1; k < 20; ++k) {
      term *= square / (k * (k + order));
      sum += term;
    }
    return sum;
  }
  double after = 0, value = 1e-300, all = 0, first = 0;
  for (int n = 2 * (int)(0.5 * x) + 40; n > 0; --n) {
    const double before = 2 * n / x * value - after; /* of order n - 1 */
    after = value;
    value = before;
    if (n == 2) first = value;
    if (n % 2 != 0) all += n == 1 ? value : 2 * value;
  }
  return (order == 0 ? value : first) / all;
}

static double bessel_j(int order, double x) {
  if (!(x < INFINITY)) return isnan(x) ? x : 0;
  return x < 25 ? bessel_j_of_small(order, x) : bessel_j_of_large(order, x);
}

static double inlay_s_j0(double x) { return bessel_j(0, fabs(x)); }

static double inlay_s_j1(double x) { return x < 0 ? -bessel_j(1, -x) : x == 0 ? x : bessel_j(1, x); }
