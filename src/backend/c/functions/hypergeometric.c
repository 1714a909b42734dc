#include <math.h>
#include <stdbool.h>

/* Gauss's function 2F1(a, b; c; z). Its equation z (1 - z) F'' + (c - (a + b + 1) z) F' = a b F (DLMF 15.10.1) has a
   power series about every z between 0 and 1: the one about 0 as far as it converges fast, then series about points
   ever closer to 1, each with the value and the slope that the one before it left. So no formula is needed that breaks
   down where c - a - b or a - b is a whole number. Negative z are taken to (0, 1) by Pfaff's transformation
   (DLMF 15.8.1). Sums come with bounds of their errors; where that of a sum of doubles is too large, numbers of more
   bits follow. */
typedef struct {
  wide a, b, c;
} of_gauss;

/* A value of the function, its slope there, and how far both may be off. */
typedef struct {
  wide value, slope, value_error, slope_error;
  bool is_known;
} sum_of_gauss;

/* A double, and a bound of its relative error. */
typedef struct {
  double value, error;
} rated;

/* What a sum of so many terms may lose, by the sum of their sizes: each is a product of factors of all before it. */
static wide rounding_of_sum(wide sum, wide sizes, int terms) {
  wide error = wide_sum(wide_cut(wide_size(sum), 2), wide_times(sizes, 16 + 8.0 * terms));
  error.exponent -= sum.length - 1;
  return error;
}

/* Before that many terms a factor near 0 may make the terms small for a while. */
static int terms_before_end(double a, double b, double c, int most) {
  const double last = -fmin(a, fmin(b, c));
  return last > 0 && last < most ? (int)last + 1 : 0;
}

/* In so many terms a value is tried to be found, of all series together. */
enum { most_terms_of_gauss = 60000 };

/* The series about 0 (DLMF 15.2.1). Ends by itself where a or b is a whole number up to 0. */
static sum_of_gauss gauss_about_0(of_gauss p, wide z, int* terms_left) {
  const int length = p.a.length;
  const int first =
      terms_before_end(double_of_wide(p.a), double_of_wide(p.b), double_of_wide(p.c), most_terms_of_gauss);
  wide term = wide_of(1, length), value = term, slope = wide_of(0, length);
  wide value_sizes = wide_of(1, 2), slope_sizes = wide_of(0, 2), smallest = wide_of(1, 2), change = wide_of(0, 2);
  smallest.exponent = -length;
  for (int n = 0; --*terms_left > 0; ++n) {
    const wide above = wide_product(wide_product(wide_plus(p.a, n), wide_plus(p.b, n)), z);
    const wide below = wide_times(wide_plus(p.c, n), n + 1);
    const bool falls = n > first && wide_compare_sizes(above, below) < 0;
    if (above.sign == 0 || (falls && wide_compare_sizes(change, wide_product(slope_sizes, smallest)) <= 0)) {
      const wide of_value = rounding_of_sum(value, value_sizes, n), of_slope = rounding_of_sum(slope, slope_sizes, n);
      return (sum_of_gauss){value, wide_quotient(slope, z), of_value, wide_quotient(of_slope, wide_size(z)), true};
    }
    term = wide_quotient(wide_product(term, above), below);
    const wide of_slope = wide_times(term, n + 1);
    value = wide_sum(value, term);
    slope = wide_sum(slope, of_slope);
    change = wide_cut(wide_size(of_slope), 2);
    value_sizes = wide_sum(value_sizes, wide_size(term));
    slope_sizes = wide_sum(slope_sizes, change);
  }
  return (sum_of_gauss){.is_known = false};
}

/* One of the two solutions by which a step towards 1 is made, as far as its series is summed: two terms, and sums. */
typedef struct {
  wide older, newer, value, slope, value_sizes, slope_sizes;
} solution_of_gauss;

static solution_of_gauss start_of_solution(double value, double slope, int length) {
  const wide none = wide_of(0, 2), first = wide_of(value, length), second = wide_of(slope, length);
  return (solution_of_gauss){first, second, wide_of(1, length), second, none, none};
}

/* Takes the next term; true where the last two no longer counted, and it is not taken. */
static bool take_term_of_solution(solution_of_gauss* s, wide by_older, wide by_newer, int n) {
  const wide left = wide_times(wide_sum(wide_cut(wide_size(s->older), 2), wide_size(s->newer)), n + 1);
  const wide of_slope = wide_sum(s->slope_sizes, wide_size(s->slope)), of_value = wide_plus(s->value_sizes, 1);
  wide least = wide_compare_sizes(of_slope, of_value) < 0 ? of_slope : of_value;
  least.exponent -= s->value.length;
  if (n > 0 && wide_compare_sizes(left, least) <= 0) return true;
  const wide next = wide_difference(wide_product(s->older, by_older), wide_product(s->newer, by_newer));
  const wide change = wide_times(next, n + 2);
  s->value = wide_sum(s->value, next);
  s->slope = wide_sum(s->slope, change);
  s->value_sizes = wide_sum(s->value_sizes, wide_size(next));
  s->slope_sizes = wide_sum(s->slope_sizes, wide_size(change));
  s->older = s->newer;
  s->newer = next;
  return false;
}

/* Adds to a value or a slope what begins as `start`, and to its error. */
static void add_part(wide* sum, wide* error, wide start, wide start_error, wide part, wide part_error) {
  const wide size = wide_cut(wide_size(start), 2);
  *sum = wide_sum(*sum, wide_product(start, part));
  *error = wide_sum(*error, wide_sum(wide_product(start_error, wide_size(part)), wide_product(size, part_error)));
}

/* From the point 1 - rest, where `at` is known, to 1 - rest + step: by the series of the solutions that start as (1, 0)
   and (0, 1). */
static sum_of_gauss step_towards_1(of_gauss p, wide rest, wide step, sum_of_gauss at, int* terms_left) {
  const int length = p.a.length;
  const wide z = wide_plus(wide_negative(rest), 1), scale = wide_quotient(step, wide_product(z, rest));
  const wide apart = wide_difference(rest, z), scaled_step = wide_product(scale, step);
  const wide first = wide_difference(p.c, wide_product(wide_plus(wide_sum(p.a, p.b), 1), z));
  const wide zero = wide_of(0, length), no_error = wide_of(0, 2);
  solution_of_gauss solutions[] = {start_of_solution(1, 0, length), start_of_solution(0, 1, length)};
  sum_of_gauss out = {zero, zero, no_error, no_error, true};
  bool ended[2] = {false, false};
  int n = 0;
  for (; !(ended[0] && ended[1]); ++n) {
    if (--*terms_left <= 0) return (sum_of_gauss){.is_known = false};
    const wide factors = wide_product(wide_plus(p.a, n), wide_plus(p.b, n));
    const wide by_older = wide_quotient(wide_product(factors, scaled_step), wide_of((n + 1.0) * (n + 2.0), 3));
    const wide sum = wide_sum(wide_times(apart, n), first);
    const wide by_newer = wide_quotient(wide_product(sum, scale), wide_of(n + 2, 3));
    for (int k = 0; k < 2; ++k) ended[k] = ended[k] || take_term_of_solution(&solutions[k], by_older, by_newer, n);
  }
  for (int k = 0; k < 2; ++k) {
    const solution_of_gauss* of = &solutions[k];
    const wide start = k == 0 ? at.value : wide_product(at.slope, step);
    const wide error = k == 0 ? at.value_error : wide_product(at.slope_error, step);
    add_part(&out.value, &out.value_error, start, error, of->value, rounding_of_sum(of->value, of->value_sizes, n));
    add_part(&out.slope, &out.slope_error, start, error, of->slope, rounding_of_sum(of->slope, of->slope_sizes, n));
  }
  out.slope = wide_quotient(out.slope, step);
  out.slope_error = wide_quotient(out.slope_error, step);
  return out;
}

static bool is_wide_pole(wide x) {
  if (x.sign == 0) return true;
  for (int k = x.exponent < -1 ? 0 : x.exponent + 1; k < wide_limbs; ++k) {
    if (x.limbs[k] != 0) return false; /* behind the point */
  }
  return x.sign < 0;
}

/* For 0 < z < 1; `rest` is 1 - z with its own digits. */
static sum_of_gauss gauss_between_0_and_1(of_gauss p, wide z, wide rest) {
  int terms_left = most_terms_of_gauss;
  if (is_wide_pole(p.a) || is_wide_pole(p.b)) return gauss_about_0(p, z, &terms_left);
  const wide series_to = wide_of(0.75, p.a.length); /* from there on steps take fewer terms */
  if (wide_compare_sizes(z, series_to) <= 0) return gauss_about_0(p, z, &terms_left);
  sum_of_gauss sum = gauss_about_0(p, series_to, &terms_left);
  wide left = wide_plus(wide_negative(series_to), 1); /* 1 - the point reached */
  while (sum.is_known && wide_compare_sizes(left, rest) > 0) {
    wide next = wide_times(left, 0.5);
    if (wide_compare_sizes(next, rest) < 0) next = rest;
    sum = step_towards_1(p, left, wide_difference(left, next), sum, &terms_left);
    left = next;
  }
  return sum;
}

/* base^power times a sum. */
static rated power_times_sum(wide base, wide power, sum_of_gauss sum) {
  const rated none = {0, INFINITY}, zero = {0, 0};
  const wide exponent = wide_product(wide_cut(power, 5), wide_log(base));
  const double size = double_of_wide(exponent);
  if (!sum.is_known) return none;
  if (!(size < 1e8)) return (rated){sum.value.sign * INFINITY, sum.value.sign == 0 ? INFINITY : 0};
  const wide factor = size > -1e8 ? wide_exp(exponent) : wide_of(0, 7);
  const wide error = wide_cut(sum.value_error, 7), most = wide_product(factor, wide_sum(error, wide_size(sum.value)));
  if (double_of_wide(most) == 0) return zero;
  if (wide_compare_sizes(sum.value, error) <= 0) { /* a root, as far as these bits tell */
    return double_of_wide(error) < 1e-100 && double_of_wide(wide_product(error, factor)) < 1e-100 ? zero : none;
  }
  const double of_sum = double_of_wide(wide_quotient(error, wide_size(sum.value)));
  return (rated){double_of_wide(wide_product(factor, sum.value)),
                 of_sum + 0x1p-100 * (1 + fabs(double_of_wide(power)))};
}

/* Is c - x right as a parameter of a series? Next to a whole number up to 0 its last bits are all of a factor. */
static bool is_known_difference(wide c, wide x, wide difference) {
  if (wide_difference(wide_sum(difference, x), c).sign == 0 &&
      wide_difference(wide_difference(c, difference), x).sign == 0) {
    return true;
  }
  const double rough = double_of_wide(difference), whole = nearbyint(rough);
  return whole > 0 || fabs(rough - whole) > 0.25;
}

static inline bool is_right(rated x) { return x.error <= 0x1p-53; }

static inline void keep_better(rated* best, rated other) {
  if (other.error < best->error) *best = other;
}

/* The best of all forms that the value has, or the first that is right. */
static rated hyp2f1_of_length(double a, double b, double c, double z, int length) {
  const of_gauss p = {wide_of(a, length), wide_of(b, length), wide_of(c, length)};
  const wide at = wide_of(z, length), rest = wide_plus(wide_negative(at), 1), none = wide_of(0, length);
  const wide one = wide_of(1, length), c_a = wide_difference(p.c, p.a), c_b = wide_difference(p.c, p.b);
  const bool knows_a = is_known_difference(p.c, p.a, c_a), knows_b = is_known_difference(p.c, p.b, c_b);
  rated best = {0, INFINITY};
  int terms_left = most_terms_of_gauss;
  if (is_pole_of_gamma(a) || is_pole_of_gamma(b)) {
    keep_better(&best, power_times_sum(one, none, gauss_about_0(p, at, &terms_left)));
    if (is_right(best) || is_pole_of_gamma(c) || z >= 1) return best;
  }
  if (z > 0) {
    keep_better(&best, power_times_sum(one, none, gauss_between_0_and_1(p, at, rest)));
    if (is_right(best) || !knows_a || !knows_b) return best;
    const of_gauss other = {c_a, c_b, p.c}; /* Euler's transformation */
    keep_better(&best, power_times_sum(rest, wide_difference(c_a, p.b), gauss_between_0_and_1(other, at, rest)));
    return best;
  }
  const wide image = wide_quotient(wide_negative(at), rest), image_rest = wide_quotient(one, rest);
  const of_gauss by_b = {p.a, c_b, p.c}, by_a = {c_a, p.b, p.c};
  if (knows_b) {
    keep_better(&best, power_times_sum(rest, wide_negative(p.a), gauss_between_0_and_1(by_b, image, image_rest)));
  }
  if (!is_right(best) && knows_a) {
    keep_better(&best, power_times_sum(rest, wide_negative(p.b), gauss_between_0_and_1(by_a, image, image_rest)));
  }
  if (!is_right(best) && z >= -0.9) {
    terms_left = most_terms_of_gauss;
    keep_better(&best, power_times_sum(one, none, gauss_about_0(p, at, &terms_left)));
  }
  return best;
}

/* (1 - z)^-a 2F1(a, c - b; c; z / (z - 1)) for negative z, and by the series alone for others, of doubles. */
static rated hyp2f1_of_doubles(double a, double b, double c, double z) {
  const bool turned = z < 0;
  const double second = turned ? c - b : b, point = turned ? z / (z - 1) : z;
  double term = 1, sum = 1, sizes = 0;
  const rated none = {0, INFINITY};
  if (point > 0.9 || (turned && !(second > 0.5))) return none;
  const int first = terms_before_end(a, second, c, 1000);
  for (int n = 0; n < 1000; ++n) {
    const double above = (a + n) * (second + n), ratio = above == 0 ? 0 : above / ((c + n) * (n + 1)) * point;
    if (ratio == 0 || (n > first && fabs(term) <= 0x1p-56 * (1 - fabs(ratio)) * fabs(sum))) {
      const double factor = turned ? pow(1 - z, -a) : 1;
      const double lost = 0x1p-53 * (sizes / fabs(sum) + 4 + (turned ? fabs(a) : 0));
      return (rated){factor * sum, factor > 1e-290 && fabs(factor * sum) < INFINITY ? lost : INFINITY};
    }
    term *= ratio;
    sum += term;
    sizes += (6 * n + 8) * fabs(term);
  }
  return none;
}

static rated hyp2f1_rated(double a, double b, double c, double z) {
  if (isinf(a) || isinf(b) || isinf(z)) return (rated){0, INFINITY};
  if (isinf(c)) return (rated){1, is_pole_of_gamma(a) || fabs(z) < 1 ? 0 : INFINITY};
  rated of = hyp2f1_of_doubles(a, b, c, z);
  if (of.error <= 0x1p-49) return (rated){of.value, 0};
  const bool helps = fmax(fabs(a), fmax(fabs(b), fabs(c))) <= 300; /* larger ones may cancel more bits than there are */
  of = hyp2f1_of_length(a, b, c, z, 4);
  if (!is_right(of) && helps) of = hyp2f1_of_length(a, b, c, z, 9);
  if (!is_right(of) && helps) of = hyp2f1_of_length(a, b, c, z, wide_limbs);
  return of;
}

static inline double usable(rated x) { return x.error <= 0x1p-30 ? x.value : NAN; }

/* Multiplies by gamma(x) over the root of 2 pi, x > 0, or for sign -1 divides by it: in part as a sum of logarithms, by
   Stirling's formula (DLMF 5.11.1) from 32 on. */
static void multiply_by_gamma(wide x, int sign, wide* log, wide* factor) {
  static const double above[] = {1, -1, 1, -1, 1, -691, 1, -3617, 43867, -174611};
  static const double below[] = {12, 360, 1260, 1680, 1188, 360360, 156, 122400, 244188, 125400};
  while (double_of_wide(x) < 32) {
    *factor = sign > 0 ? wide_quotient(*factor, x) : wide_product(*factor, x);
    x = wide_plus(x, 1);
  }
  const wide t = wide_quotient(wide_of(1, 7), x), square = wide_product(t, t);
  wide series = wide_of(0, 7);
  for (int k = 9; k >= 0; --k) {
    series = wide_sum(wide_product(series, square), wide_quotient(wide_of(above[k], 7), wide_of(below[k], 1)));
  }
  const wide main_part = wide_product(wide_plus(wide_cut(x, 7), -0.5), wide_log(x));
  const wide all = wide_sum(wide_difference(main_part, x), wide_product(series, t));
  *log = wide_sum(*log, wide_times(all, sign));
}

/* Takes gamma(x) left of 0 to 1 / gamma(1 - x), each over the root of 2 pi (DLMF 5.5.3); gives back the factor. */
static double reflection_of_gamma(wide* x) {
  if (x->sign > 0) return 1;
  const double whole = nearbyint(double_of_wide(*x)), sine = sin_of_pi(double_of_wide(wide_plus(*x, -whole)));
  *x = wide_plus(wide_negative(*x), 1);
  return 0.5 / (fmod(whole, 2) != 0 ? -sine : sine);
}

/* gamma(c) gamma(c - a - b) / (gamma(c - a) gamma(c - b)) (DLMF 15.4.20). */
static double hyp2f1_at_1(double a, double b, double c) {
  if (isinf(c)) return NAN;
  if (isinf(a) || isinf(b)) return sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(c) * INFINITY;
  const wide of_c = wide_of(c, 7), c_a = wide_plus(of_c, -a), c_b = wide_plus(of_c, -b);
  wide gammas[] = {of_c, wide_plus(c_a, -b), c_a, c_b}, log = wide_of(0, 7), factor = wide_of(1, 7);
  if (gammas[1].sign <= 0) return sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(c) * INFINITY;
  if (is_wide_pole(c_a) || is_wide_pole(c_b)) return 0;
  double mirrored = 1;
  for (int k = 0; k < 4; ++k) {
    const int sign = (k < 2) == (gammas[k].sign > 0) ? 1 : -1;
    const double of_mirror = reflection_of_gamma(&gammas[k]);
    mirrored = k < 2 ? mirrored * of_mirror : mirrored / of_mirror;
    multiply_by_gamma(gammas[k], sign, &log, &factor);
  }
  const double size = double_of_wide(log);
  if (!(fabs(size) < 1e8)) return size < 0 ? 0 : size > 0 ? mirrored * INFINITY : NAN;
  const wide product = wide_product(wide_exp(log), factor);
  if (isnan(mirrored) || isinf(mirrored)) return mirrored * double_of_wide(product); /* beside a pole */
  return double_of_wide(wide_times(product, mirrored));
}

/* Gauss's relation between neighbours by degree (DLMF 15.5.11), by which polynomials of high degree lose little. */
static wide hyp2f1_by_degrees(double b, double c, double z, int degree, int length) {
  const wide of_c = wide_of(c, length), rest = wide_plus(wide_of(z, length), -1);
  wide older = wide_of(1, length), newer = wide_quotient(wide_times(wide_of(-b, length), z), of_c);
  newer = wide_plus(newer, 1);
  for (int k = 1; k < degree; ++k) {
    const wide by_newer = wide_difference(wide_plus(of_c, 2.0 * k), wide_times(wide_plus(wide_of(b, length), k), z));
    const wide by_older = wide_times(wide_product(rest, older), k);
    const wide next = wide_quotient(wide_sum(wide_product(newer, by_newer), by_older), wide_plus(of_c, k));
    older = newer;
    newer = next;
  }
  return newer;
}

/* The sum has an end, at any z: a or b is a whole number up to 0. */
static double hyp2f1_polynomial(double a, double b, double c, double z) {
  const bool by_a = is_pole_of_gamma(a) && (!is_pole_of_gamma(b) || a >= b);
  const double degree = by_a ? -a : -b, other = by_a ? b : a;
  if (is_pole_of_gamma(c) && c > -degree) return INFINITY;
  if (by_a && a == c) return pow(1 - z, -b); /* as SciPy */
  const rated of = hyp2f1_rated(-degree, other, c, z);
  if (is_right(of) || degree > 1000 || isinf(other) || isinf(z)) return usable(of);
  const wide value = hyp2f1_by_degrees(other, c, z, (int)degree, 3);
  const wide control = hyp2f1_by_degrees(other, c, z, (int)degree, 5);
  const double apart = double_of_wide(wide_difference(value, control)), result = double_of_wide(control);
  return fabs(apart) <= 0x1p-30 * fabs(result) ? result : usable(of);
}

static double inlay_s_hyp2f1(double a, double b, double c, double z) {
  if (z == 0 || a == 0 || b == 0) return 1; /* as SciPy, of nan too */
  if (isnan(a) || isnan(b) || isnan(c) || isnan(z)) return NAN;
  if (is_pole_of_gamma(a) || is_pole_of_gamma(b)) return hyp2f1_polynomial(a, b, c, z);
  if (is_pole_of_gamma(c) || z > 1) return INFINITY;
  if (z == 1) return hyp2f1_at_1(a, b, c);
  return usable(hyp2f1_rated(a, b, c, z));
}
