#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
  double re, im;
} c128;

typedef struct {
  float re, im;
} c64;

static inline c128 c128_of_c64(c64 z) { return (c128){z.re, z.im}; }

static inline c64 c64_of_c128(c128 z) { return (c64){(float)z.re, (float)z.im}; }

/* A product as it is: gcc fuses those of alternating sums and differences in spite of -ffp-contract=off. */
static inline double rounded_f64(double x) {
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12
  return __builtin_assoc_barrier(x);
#else
  return x;
#endif
}

static inline c128 mul_c128(c128 a, c128 b) {
  return (c128){rounded_f64(a.re * b.re) - rounded_f64(a.im * b.im),
                rounded_f64(a.re * b.im) + rounded_f64(a.im * b.re)};
}

/* Smith (1962): divides by the larger part of b first, so that nothing overflows early. With the parts of a in the
   order of those of b, and without branches, which gcc would fuse. */
static inline c128 div_c128(c128 a, c128 b) {
  const double re = fabs(b.re), im = fabs(b.im);
  if (re == 0 && im == 0) return (c128){a.re / re, a.im / re};
  const bool real_is_larger = re >= im;
  const double larger = real_is_larger ? b.re : b.im, smaller = real_is_larger ? b.im : b.re;
  const double ratio = smaller / larger, scale = 1 / (larger + smaller * ratio);
  const double first = real_is_larger ? a.re : a.im, second = real_is_larger ? a.im : a.re;
  const double cross = first * ratio;
  return (c128){(first + second * ratio) * scale, (real_is_larger ? second - cross : cross - second) * scale};
}

static inline c128 reciprocal_c128(c128 a) {
  if (fabs(a.im) <= fabs(a.re)) {
    const double ratio = a.im / a.re, whole = a.re + a.im * ratio;
    return (c128){1 / whole, -ratio / whole};
  }
  const double ratio = a.re / a.im, whole = a.re * ratio + a.im;
  return (c128){ratio / whole, -1 / whole};
}

static inline float rounded_f32(float x) {
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12
  return __builtin_assoc_barrier(x);
#else
  return x;
#endif
}

static inline c64 mul_c64(c64 a, c64 b) {
  return (c64){rounded_f32(a.re * b.re) - rounded_f32(a.im * b.im),
               rounded_f32(a.re * b.im) + rounded_f32(a.im * b.re)};
}

static inline c64 div_c64(c64 a, c64 b) {
  const float re = fabsf(b.re), im = fabsf(b.im);
  if (re == 0 && im == 0) return (c64){a.re / re, a.im / re};
  const bool real_is_larger = re >= im;
  const float larger = real_is_larger ? b.re : b.im, smaller = real_is_larger ? b.im : b.re;
  const float ratio = smaller / larger, scale = 1 / (larger + smaller * ratio);
  const float first = real_is_larger ? a.re : a.im, second = real_is_larger ? a.im : a.re;
  const float cross = first * ratio;
  return (c64){(first + second * ratio) * scale, (real_is_larger ? second - cross : cross - second) * scale};
}

static inline c64 reciprocal_c64(c64 a) {
  if (fabsf(a.im) <= fabsf(a.re)) {
    const float ratio = a.im / a.re, whole = a.re + a.im * ratio;
    return (c64){1 / whole, -ratio / whole};
  }
  const float ratio = a.re / a.im, whole = a.re * ratio + a.im;
  return (c64){ratio / whole, -1 / whole};
}

static inline double complex of_parts(c128 z) {
  double complex out;
  memcpy(&out, &z, sizeof out);
  return out;
}

static inline c128 parts_of(double complex z) { return (c128){creal(z), cimag(z)}; }

static inline c128 sqrt_c128(c128 z) { return parts_of(csqrt(of_parts(z))); }

static inline c128 exp_c128(c128 z) { return parts_of(cexp(of_parts(z))); }

static inline c128 log_c128(c128 z) { return parts_of(clog(of_parts(z))); }

static inline c128 sin_c128(c128 z) { return parts_of(csin(of_parts(z))); }

static inline c128 cos_c128(c128 z) { return parts_of(ccos(of_parts(z))); }

static inline c128 tan_c128(c128 z) { return parts_of(ctan(of_parts(z))); }

static inline c128 arcsin_c128(c128 z) { return parts_of(casin(of_parts(z))); }

static inline c128 arccos_c128(c128 z) { return parts_of(cacos(of_parts(z))); }

static inline c128 arctan_c128(c128 z) { return parts_of(catan(of_parts(z))); }

static inline c128 sinh_c128(c128 z) { return parts_of(csinh(of_parts(z))); }

static inline c128 cosh_c128(c128 z) { return parts_of(ccosh(of_parts(z))); }

static inline c128 tanh_c128(c128 z) { return parts_of(ctanh(of_parts(z))); }

static inline c128 arcsinh_c128(c128 z) { return parts_of(casinh(of_parts(z))); }

static inline c128 arccosh_c128(c128 z) { return parts_of(cacosh(of_parts(z))); }

static inline c128 arctanh_c128(c128 z) { return parts_of(catanh(of_parts(z))); }

static inline c128 exp2_c128(c128 z) {
  return exp_c128((c128){z.re * 0x1.62e42fefa39efp-1, z.im * 0x1.62e42fefa39efp-1});
}

/* Without the cancellation of exp(z) - 1 near 0. */
static inline c128 expm1_c128(c128 z) {
  const double half = sin(z.im / 2);
  return (c128){expm1(z.re) * cos(z.im) - 2 * half * half, exp(z.re) * sin(z.im)};
}

static inline c128 log2_c128(c128 z) {
  const c128 w = log_c128(z);
  return (c128){w.re * 0x1.71547652b82fep+0, w.im * 0x1.71547652b82fep+0};
}

static inline c128 log10_c128(c128 z) {
  const c128 w = log_c128(z);
  return (c128){w.re * 0x1.bcb7b1526e50ep-2, w.im * 0x1.bcb7b1526e50ep-2};
}

/* log |1 + z| as half of log1p(|1 + z|^2 - 1) near 0, where the square is almost 1. */
static inline c128 log1p_c128(c128 z) {
  const bool near = fabs(z.re) < 0.5 && fabs(z.im) < 0.5;
  const double size = near ? log1p(z.re * (2 + z.re) + z.im * z.im) / 2 : log(hypot(1 + z.re, z.im));
  return (c128){size, atan2(z.im, 1 + z.re)};
}

/* z / |z|, 0 for 0. What is infinite in one part points along it, whatever the other is. */
static inline c128 sign_c128(c128 z) {
  const bool far = isinf(z.re), high = isinf(z.im);
  if (far && high) return (c128){NAN, NAN};
  if (far || high) return (c128){far ? copysign(1, z.re) : 0, high ? copysign(1, z.im) : 0};
  if (z.re == 0 && z.im == 0) return (c128){0, 0};
  const bool large = fabs(z.re) > 1 || fabs(z.im) > 1;
  const double x = large ? z.re / 2 : z.re, y = large ? z.im / 2 : z.im; /* or their size may overflow */
  const double size = hypot(x, y);
  if (isnan(size)) return (c128){NAN, NAN};
  return (c128){x / size, y / size};
}

/* A whole power below 100 by multiplying, as NumPy: (2+0i)^3 is 8+0i. 0 to a power below 0 is NaN. */
static inline c128 pow_c128(c128 a, c128 b) {
  if (b.re == 0 && b.im == 0) return (c128){1, 0};
  if (a.re == 0 && a.im == 0) return b.re > 0 ? (c128){0, 0} : (c128){NAN, NAN};
  if (b.im != 0 || !(fabs(b.re) < 100) || b.re != trunc(b.re)) return parts_of(cpow(of_parts(a), of_parts(b)));
  c128 power = {1, 0}, factor = a;
  for (int rest = (int)fabs(b.re); rest != 0; rest /= 2) {
    if (rest % 2 == 1) power = power.re == 1 && power.im == 0 ? factor : mul_c128(power, factor);
    if (rest > 1) factor = mul_c128(factor, factor);
  }
  return b.re > 0 ? power : reciprocal_c128(power);
}
