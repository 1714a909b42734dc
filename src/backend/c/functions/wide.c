#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers of many digits, for sums whose terms cancel: the sum of limbs[k] 2^(32 (exponent - k)), of which the first
   limb is not 0 unless the number is. Results are as long as the first operand, and cut: they are off by 2^(-32 (length
   - 1)) of their size at most. */
enum { wide_limbs = 21 };

typedef struct {
  int sign, length, exponent; /* the sign of 0 is 0 */
  uint32_t limbs[wide_limbs]; /* 0 from the length on */
} wide;

/* Of limbs the first of which may be 0. */
static wide wide_of_limbs(int sign, int length, int exponent, const uint32_t* limbs, int count) {
  wide out = {0, length, 0, {0}};
  int first = 0;
  while (first < count && limbs[first] == 0) ++first;
  if (first == count) return out;
  out.sign = sign;
  out.exponent = exponent - first;
  for (int k = 0; k < length && first + k < count; ++k) out.limbs[k] = limbs[first + k];
  return out;
}

static wide wide_of(double x, int length) {
  uint32_t limbs[3] = {0, 0, 0};
  int power = 0;
  if (x > 0 && x < 0x1p32 && x == floor(x)) { /* as below, but these are many */
    limbs[0] = (uint32_t)x;
    return wide_of_limbs(1, length, 0, limbs, 1);
  }
  const double part = frexp(fabs(x), &power);
  const int exponent = power > 0 ? (power - 1) / 32 : -((32 - power) / 32);
  double rest = ldexp(part, power - 32 * exponent);
  for (int k = 0; k < 3; ++k) {
    limbs[k] = (uint32_t)rest;
    rest = (rest - limbs[k]) * 0x1p32;
  }
  return wide_of_limbs(x < 0 ? -1 : 1, length, exponent, limbs, 3);
}

static double double_of_wide(wide x) {
  double sum = 0;
  for (int k = x.length < 4 ? x.length - 1 : 3; k >= 0; --k) sum += ldexp(x.limbs[k], -32 * k);
  const int exponent = x.exponent > 100 ? 100 : x.exponent < -100 ? -100 : x.exponent;
  return x.sign * ldexp(sum, 32 * exponent);
}

static wide wide_negative(wide x) {
  x.sign = -x.sign;
  return x;
}

static wide wide_size(wide x) {
  x.sign = x.sign != 0;
  return x;
}

static wide wide_cut(wide x, int length) {
  for (int k = length; k < x.length; ++k) x.limbs[k] = 0;
  x.length = length;
  return x;
}

/* Which of two is larger, without their signs: 1, 0 or -1. */
static int wide_compare_sizes(wide a, wide b) {
  if (a.sign == 0 || b.sign == 0) return (a.sign != 0) - (b.sign != 0);
  if (a.exponent != b.exponent) return a.exponent > b.exponent ? 1 : -1;
  for (int k = 0; k < wide_limbs; ++k) {
    if (a.limbs[k] != b.limbs[k]) return a.limbs[k] > b.limbs[k] ? 1 : -1;
  }
  return 0;
}

static wide wide_sum(wide a, wide b) {
  const int length = a.length;
  if (wide_compare_sizes(a, b) < 0) {
    const wide other = a;
    a = b;
    b = other;
  }
  const int shift = b.sign == 0 ? length + 2 : a.exponent - b.exponent;
  uint32_t limbs[wide_limbs + 2];
  int64_t carry = 0;
  for (int k = length; k >= 0; --k) { /* of a and b the limbs k, one more than the result has */
    const int64_t here = k < wide_limbs ? a.limbs[k] : 0,
                  there = k >= shift && k - shift < wide_limbs ? b.limbs[k - shift] : 0;
    const int64_t sum = here + (a.sign == b.sign ? there : -there) + carry;
    limbs[k + 1] = (uint32_t)sum;
    carry = sum < 0 ? -1 : sum >> 32;
  }
  limbs[0] = (uint32_t)carry;
  return wide_of_limbs(a.sign, length, a.exponent + 1, limbs, length + 2);
}

static inline wide wide_difference(wide a, wide b) { return wide_sum(a, wide_negative(b)); }

/* How many limbs there are up to the last one that is not 0. */
static int wide_used(const wide* x) {
  int used = x->length;
  while (used > 0 && x->limbs[used - 1] == 0) --used;
  return used;
}

static wide wide_product(wide a, wide b) {
  const int used_a = wide_used(&a), used_b = wide_used(&b), most = a.length + 2;
  uint32_t limbs[wide_limbs + 3] = {0};
  for (int i = (used_a < most ? used_a : most) - 1; i >= 0; --i) {
    uint64_t carry = 0;
    for (int j = (used_b < most - i ? used_b : most - i) - 1; j >= 0; --j) {
      const uint64_t sum = (uint64_t)a.limbs[i] * b.limbs[j] + limbs[i + j + 1] + carry;
      limbs[i + j + 1] = (uint32_t)sum;
      carry = sum >> 32;
    }
    limbs[i] = (uint32_t)carry;
  }
  return wide_of_limbs(a.sign * b.sign, a.length, a.exponent + b.exponent + 1, limbs, a.length + 3);
}

/* Takes `digit` times the divisor from the `count` + 1 limbs at `rest`; gives back whether that was too much. */
static bool wide_take(uint32_t* rest, const uint32_t* divisor, int count, uint64_t digit) {
  uint64_t carry = 0;
  int64_t borrow = 0;
  for (int k = count - 1; k >= 0; --k) {
    carry += digit * divisor[k];
    const int64_t left = (int64_t)rest[k + 1] - (int64_t)(uint32_t)carry + borrow;
    rest[k + 1] = (uint32_t)left;
    borrow = left < 0 ? -1 : 0;
    carry >>= 32;
  }
  const int64_t left = (int64_t)rest[0] - (int64_t)carry + borrow;
  rest[0] = (uint32_t)left;
  return left < 0;
}

/* By a number that is not 0: long division (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D). */
static wide wide_quotient(wide a, wide b) {
  const int used = wide_used(&b), length = a.length;
  uint32_t rest[2 * wide_limbs + 2] = {0}, divisor[wide_limbs + 1] = {0}, limbs[wide_limbs + 1];
  int shift = 0;
  while ((b.limbs[0] << shift & 0x80000000u) == 0) ++shift;
  for (int k = 0; k < wide_limbs; ++k) {
    const uint64_t of_a = (uint64_t)a.limbs[k] << shift, of_b = (uint64_t)b.limbs[k] << shift;
    rest[k] |= (uint32_t)(of_a >> 32);
    rest[k + 1] = (uint32_t)of_a;
    if (k > 0) divisor[k - 1] |= (uint32_t)(of_b >> 32);
    divisor[k] = (uint32_t)of_b;
  }
  for (int k = 0; k <= length; ++k) {
    const uint64_t top = (uint64_t)rest[k] << 32 | rest[k + 1];
    uint64_t digit = top / divisor[0];
    if (digit > 0xffffffff) digit = 0xffffffff;
    /* At most two too large, or one by two limbs of the divisor. */
    while (top - digit * divisor[0] <= 0xffffffff &&
           digit * divisor[1] > ((top - digit * divisor[0]) << 32 | rest[k + 2])) {
      --digit;
    }
    if (wide_take(rest + k, divisor, used, digit)) {
      uint64_t carry = 0;
      --digit;
      for (int i = used - 1; i >= 0; --i) {
        carry += (uint64_t)rest[k + i + 1] + divisor[i];
        rest[k + i + 1] = (uint32_t)carry;
        carry >>= 32;
      }
      rest[k] += (uint32_t)carry;
    }
    limbs[k] = (uint32_t)digit;
  }
  return wide_of_limbs(a.sign * b.sign, length, a.exponent - b.exponent, limbs, length + 1);
}

static inline wide wide_times(wide a, double x) { return wide_product(a, wide_of(x, 3)); }

static inline wide wide_plus(wide a, double x) { return wide_sum(a, wide_of(x, 3)); }

/* e^x to 100 bits and more, for |x| < 1e8: the series at 1/256 of what is left of whole powers of 2. */
static wide wide_exp(wide x) {
  const double powers = nearbyint(double_of_wide(x) * 0x1.71547652b82fep+0);
  const wide ln2 = wide_sum(wide_of(0x1.62e42fefa39efp-1, 7),
                            wide_sum(wide_of(0x1.abc9e3b39803fp-56, 7), wide_of(0x1.7b57a079a1934p-111, 7)));
  const wide part = wide_times(wide_difference(wide_cut(x, 7), wide_times(ln2, powers)), 0x1p-8);
  wide sum = wide_of(1, 7);
  for (int k = 14; k >= 1; --k) sum = wide_plus(wide_quotient(wide_product(part, sum), wide_of(k, 1)), 1);
  for (int k = 0; k < 8; ++k) sum = wide_product(sum, sum);
  const int limbs = (int)floor(powers / 32);
  sum = wide_times(sum, ldexp(1, (int)(powers - 32.0 * limbs)));
  sum.exponent += limbs;
  return sum;
}

/* Of a positive number, likewise: Halley's method, whose one step triples the digits. */
static wide wide_log(wide x) {
  wide first = x;
  first.exponent = 0;
  const wide start = wide_of(log(double_of_wide(first)) + 32 * 0x1.62e42fefa39efp-1 * x.exponent, 7),
             e = wide_exp(start);
  const wide change = wide_quotient(wide_difference(wide_cut(x, 7), e), wide_sum(wide_cut(x, 7), e));
  return wide_sum(start, wide_times(change, 2));
}
