#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* What is the same word for real and complex numbers: with these, a function of matrices is written once, for double. A
   copy of it for complex numbers has the type _Complex for that, of which +, - and products with real numbers are C's.
   Its products and quotients are not: C looks for infinities among NaN, and calls a function for that. In such a
   function real_r64 is the type of the real parts, complex_c128 that of complex numbers of them. What ends with _f64
   here is made anew for complex numbers where it ends with _c128, too. */

#define real_r64 double

typedef real_r64 _Complex complex_c128;

static inline real_r64 re_f64(double x) { return x; }

static inline real_r64 re_c128(complex_c128 z) { return ((const real_r64*)&z)[0]; }

static inline real_r64 im_f64(double x) {
  (void)x;
  return 0;
}

static inline real_r64 im_c128(complex_c128 z) { return ((const real_r64*)&z)[1]; }

static inline complex_c128 joined_c128(real_r64 re, real_r64 im) {
  complex_c128 z;
  ((real_r64*)&z)[0] = re;
  ((real_r64*)&z)[1] = im;
  return z;
}

static inline double conj_f64(double x) { return x; }

static inline complex_c128 conj_c128(complex_c128 z) { return joined_c128(re_c128(z), -im_c128(z)); }

static inline double times_f64(double a, double b) { return a * b; }

static inline complex_c128 times_c128(complex_c128 a, complex_c128 b) {
  return joined_c128(re_c128(a) * re_c128(b) - im_c128(a) * im_c128(b),
                     re_c128(a) * im_c128(b) + im_c128(a) * re_c128(b));
}

static inline double over_f64(double a, double b) { return a / b; }

/* As div_c128, by the larger part of b first. */
static inline complex_c128 over_c128(complex_c128 a, complex_c128 b) {
  const real_r64 x = re_c128(a), y = im_c128(a), re = re_c128(b), im = im_c128(b);
  if (fabs(re) >= fabs(im)) {
    if (re == 0 && im == 0) return joined_c128(x / fabs(re), y / fabs(re));
    const real_r64 ratio = im / re, scale = 1 / (re + im * ratio);
    return joined_c128((x + y * ratio) * scale, (y - x * ratio) * scale);
  }
  const real_r64 ratio = re / im, scale = 1 / (im + re * ratio);
  return joined_c128((x * ratio + y) * scale, (y * ratio - x) * scale);
}

/* The square of the size. */
static inline real_r64 square_f64(double x) { return x * x; }

static inline real_r64 square_c128(complex_c128 z) { return re_c128(z) * re_c128(z) + im_c128(z) * im_c128(z); }

static inline real_r64 size_f64(double x) { return fabs(x); }

/* By the larger part: its square may be out of range. */
static inline real_r64 size_c128(complex_c128 z) {
  const real_r64 re = fabs(re_c128(z)), im = fabs(im_c128(z));
  const real_r64 large = re > im ? re : im, small = re > im ? im : re, ratio = small / large;
  return large == 0 ? small : large * sqrt(1 + ratio * ratio);
}

/* |re| + |im|, by which pivots are compared. */
static inline real_r64 rough_size_f64(double x) { return fabs(x); }

static inline real_r64 rough_size_c128(complex_c128 z) { return fabs(re_c128(z)) + fabs(im_c128(z)); }

static inline real_r64 larger_part_f64(double x) { return fabs(x); }

static inline real_r64 larger_part_c128(complex_c128 z) {
  const real_r64 re = fabs(re_c128(z)), im = fabs(im_c128(z));
  return re > im ? re : im;
}

/* The square root whose real part is not negative. */
static inline complex_c128 root_c128(complex_c128 z) {
  const real_r64 large = sqrt((size_c128(z) + fabs(re_c128(z))) / 2), small = fabs(im_c128(z)) / (2 * large);
  if (large == 0) return 0;
  return re_c128(z) < 0 ? joined_c128(small, copysign(large, im_c128(z)))
                        : joined_c128(large, copysign(small, im_c128(z)));
}

/* As a complex number, and the product with one. */
static inline complex_c128 widened_f64(double x) { return joined_c128(x, 0); }

static inline complex_c128 widened_c128(complex_c128 z) { return z; }

static inline complex_c128 scaled_f64(double a, complex_c128 z) { return a * z; }

static inline complex_c128 scaled_c128(complex_c128 a, complex_c128 z) { return times_c128(a, z); }
