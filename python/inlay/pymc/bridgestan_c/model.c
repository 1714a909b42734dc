/* Stan's functions of BridgeStan 2.9 (bs_...) for one PyMC model, whose functions inlay compiled. `model.h` is written
 * when the model is exported: it includes the headers of those functions and has the tables of the variables.
 *
 * Vectors have Stan's order: variable by variable, and of each variable the first index changes fastest. Nothing is
 * kept between calls but working memory, which a call borrows from the model, so any number of threads may call. */
#define _POSIX_C_SOURCE 200809L
#include "model.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

BS_PUBLIC int bs_major_version = 2;
BS_PUBLIC int bs_minor_version = 9;
BS_PUBLIC int bs_patch_version = 0;

/* ---- the model */

/* Working memory of one call at a time. It stays for the next one, so a sampler allocates in the first calls only. */
typedef struct {
  int is_taken;
  size_t bytes;
  void* memory;
  char own_line[48]; /* threads do not wait for each other's cache lines */
} Slot;

enum { SLOTS = 64 };

struct bs_model {
  Slot slots[SLOTS];
  char* names; /* of parameters */
  char* all_names;
  char* unc_names;
  locale_t c_locale; /* in which 0.5 has a dot */
};

struct bs_rng {
  uint64_t state;
};

/* -1, and says why, if anybody wants to know. */
static int fail(char** error, const char* function, const char* format, ...) {
  if (error == NULL) return -1;
  va_list arguments;
  va_start(arguments, format);
  const size_t begin = strlen(function) + 2, length = (size_t)vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  *error = malloc(begin + length + 1);
  if (*error == NULL) return -1;
  snprintf(*error, begin + 1, "%s: ", function);
  va_start(arguments, format);
  vsnprintf(*error + begin, length + 1, format, arguments);
  va_end(arguments);
  return -1;
}

static int64_t size_of(const int64_t* dims, int rank) {
  int64_t size = 1;
  for (int axis = 0; axis < rank; ++axis) size *= dims[axis];
  return size;
}

static size_t room_of_name(const char* name, int rank) { return strlen(name) + 21 * (size_t)rank + 1; }

/* name.2.1 of the element with this number; what snprintf returns. */
static int write_name(char* text, size_t room, const char* name, const int64_t* dims, int rank, int64_t element) {
  size_t length = (size_t)snprintf(text, room, "%s", name);
  for (int axis = 0; axis < rank; ++axis) {
    char* end = length < room ? text + length : NULL;
    length += (size_t)snprintf(end, end ? room - length : 0, ".%lld", (long long)(element % dims[axis] + 1));
    element /= dims[axis];
  }
  return (int)length;
}

/* a,b.1,b.2 of the first variables; NULL: no memory. */
static char* new_names(int num_variables, int is_unconstrained) {
  char* out = NULL;
  size_t length = 0;
  for (int pass = 0; pass < 2; ++pass) { /* the first one measures */
    if (pass == 1 && (out = malloc(length + 1)) == NULL) return NULL;
    length = 0;
    for (int i = 0; i < num_variables; ++i) {
      const Variable* v = &kVariables[i];
      const int64_t* dims = kDims + (is_unconstrained ? v->unc_dims : v->dims);
      const int rank = is_unconstrained ? v->unc_rank : v->rank;
      const int64_t size = size_of(dims, rank);
      for (int64_t element = 0; element < size; ++element) {
        if (length > 0 && out) out[length] = ',';
        length += length > 0;
        const size_t room = room_of_name(v->name, rank);
        length += (size_t)write_name(out ? out + length : NULL, out ? room : 0, v->name, dims, rank, element);
      }
    }
  }
  out[length] = '\0';
  return out;
}

static int is_empty_json(const char* text) {
  static const char* kBlanks = " \t\r\n";
  if (text == NULL) return 1;
  text += strspn(text, kBlanks);
  if (*text == '{') {
    text += 1 + strspn(text + 1, kBlanks);
    if (*text++ != '}') return 0;
    text += strspn(text, kBlanks);
  }
  return *text == '\0';
}

BS_PUBLIC void bs_model_destruct(bs_model* m) {
  if (m == NULL) return;
  for (int i = 0; i < SLOTS; ++i) free(m->slots[i].memory);
  free(m->names);
  free(m->all_names);
  free(m->unc_names);
  if (m->c_locale) freelocale(m->c_locale);
  free(m);
}

BS_PUBLIC bs_model* bs_model_construct(const char* data, unsigned int seed, char** error) {
  (void)seed; /* of what the data block draws: there is none */
  if (!is_empty_json(data)) {
    fail(error, "model_construct", "the data of a PyMC model lies in its library: leave `data` out");
    return NULL;
  }
  bs_model* m = calloc(1, sizeof *m);
  if (m != NULL) {
    m->names = new_names(NUM_PARAMS, 0);
    m->all_names = new_names(NUM_VARIABLES, 0);
    m->unc_names = new_names(NUM_PARAMS, 1);
    m->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (m->names && m->all_names && m->unc_names && m->c_locale) return m;
  }
  bs_model_destruct(m);
  fail(error, "model_construct", "no memory");
  return NULL;
}

BS_PUBLIC void bs_free_error_msg(char* error) { free(error); }

/* Nothing of a PyMC model prints. */
BS_PUBLIC int bs_set_print_callback(void (*callback)(const char*, size_t), char** error) {
  (void)callback;
  (void)error;
  return 0;
}

BS_PUBLIC const char* bs_name(const bs_model* m) {
  (void)m;
  return MODEL_NAME;
}

BS_PUBLIC const char* bs_model_info(const bs_model* m) {
  (void)m;
  return MODEL_INFO;
}

BS_PUBLIC const char* bs_param_names(const bs_model* m, bool include_tp, bool include_gq) {
  (void)include_gq;
  return include_tp ? m->all_names : m->names;
}

BS_PUBLIC const char* bs_param_unc_names(const bs_model* m) { return m->unc_names; }

BS_PUBLIC int bs_param_num(const bs_model* m, bool include_tp, bool include_gq) {
  (void)m;
  (void)include_gq;
  return include_tp ? NUM_ALL_VALUES : NUM_VALUES;
}

BS_PUBLIC int bs_param_unc_num(const bs_model* m) {
  (void)m;
  return NUM_UNC;
}

/* ---- calls of inlay's functions */

/* A slot that is nobody else's until give_back; NULL: all are taken. */
static Slot* take(bs_model* m) {
  int here; /* stacks of threads lie far from each other */
  const uint64_t first = ((uint64_t)(uintptr_t)&here >> 16) * UINT64_C(0x9e3779b97f4a7c15) >> 58;
  for (int i = 0; i < SLOTS; ++i) {
    Slot* slot = &m->slots[(first + (uint64_t)i) % SLOTS];
    if (__atomic_exchange_n(&slot->is_taken, 1, __ATOMIC_ACQUIRE) == 0) return slot;
  }
  return NULL;
}

static void give_back(Slot* slot) { __atomic_store_n(&slot->is_taken, 0, __ATOMIC_RELEASE); }

/* 0: no memory. */
static int has_room(Slot* slot, size_t bytes) {
  if (bytes <= slot->bytes) return 1;
  free(slot->memory);
  slot->memory = NULL;
  slot->bytes = 0;
  if (posix_memalign(&slot->memory, 64, bytes) != 0) {
    slot->memory = NULL;
    return 0;
  }
  slot->bytes = bytes;
  return 1;
}

/* What a code says, with the numbers of the call in place of {0}, {1}, ... */
static int fail_by_code(char** error, const char* what, const Function* f, const InlayCall* call, int32_t code) {
  const char* message = f->message(code == INLAY_FAILED_AT_SITE ? f->first_site + (int32_t)call->failure_site : code);
  enum { LONGEST = 24 }; /* number, for {0} */
  const size_t room = strlen(message) * (LONGEST / 3) + LONGEST;
  char* text = malloc(room);
  if (text == NULL) return fail(error, what, "%s", message);
  size_t length = 0;
  while (*message != '\0') {
    const int number =
        message[0] == '{' && message[1] >= '0' && message[1] <= '3' && message[2] == '}' ? message[1] - '0' : -1;
    if (number < 0) {
      text[length++] = *message++;
      continue;
    }
    length += (size_t)snprintf(text + length, room - length, "%lld", (long long)call->failure_numbers[number]);
    message += 3;
  }
  text[length] = '\0';
  fail(error, what, "%s", text);
  free(text);
  return -1;
}

static int call_in(Slot* slot, const char* what, const Function* f, const void* const* inputs, void** outputs,
                   char** error) {
  if (!has_room(slot, f->arena_bytes)) return fail(error, what, "no memory for %zu bytes", f->arena_bytes);
  void* segments[] = {slot->memory};
  InlayCall call = {0};
  call.params = inputs;
  call.outputs = outputs;
  call.segments = segments;
  const int32_t code = f->entry(&call);
  return code == INLAY_OK ? 0 : fail_by_code(error, what, f, &call, code);
}

/* 0, or -1 and the reason in `error`. */
static int run(const bs_model* m, const char* what, const Function* f, const void* const* inputs, void** outputs,
               char** error) {
  if (f->entry == NULL) return fail(error, what, "%s", f->absent);
  Slot of_this_call = {0};
  Slot* slot = f->arena_bytes == 0 ? NULL : take((bs_model*)m);
  const int result = call_in(slot ? slot : &of_this_call, what, f, inputs, outputs, error);
  if (slot) give_back(slot);
  free(of_this_call.memory);
  return result;
}

/* Of one vector to another. */
static int map(const bs_model* m, const char* what, const Function* f, const double* from, double* to, char** error) {
  const void* const inputs[] = {from};
  void* outputs[] = {to};
  return run(m, what, f, inputs, outputs, error);
}

/* The log density and something else at a point. `vector`: of the product alone. */
static int at_point(const bs_model* m, const char* what, const Function* f, bool jacobian, const double* theta_unc,
                    const double* vector, double* value, double* other, char** error) {
  const uint8_t flag = jacobian;
  const void* const inputs[] = {theta_unc, &flag, vector};
  void* outputs[] = {value, other};
  return run(m, what, f, inputs, outputs, error);
}

/* ---- densities; no constant is left out, whatever `propto` is */

BS_PUBLIC int bs_log_density(const bs_model* m, bool propto, bool jacobian, const double* theta_unc, double* value,
                             char** error) {
  (void)propto;
  return at_point(m, "log_density", &kDensity, jacobian, theta_unc, NULL, value, NULL, error);
}

BS_PUBLIC int bs_log_density_gradient(const bs_model* m, bool propto, bool jacobian, const double* theta_unc,
                                      double* value, double* gradient, char** error) {
  (void)propto;
  return at_point(m, "log_density_gradient", &kGradient, jacobian, theta_unc, NULL, value, gradient, error);
}

BS_PUBLIC int bs_log_density_hessian_vector_product(const bs_model* m, bool propto, bool jacobian,
                                                    const double* theta_unc, const double* vector, double* value,
                                                    double* product, char** error) {
  (void)propto;
  return at_point(m, "log_density_hessian_vector_product", &kProduct, jacobian, theta_unc, vector, value, product,
                  error);
}

/* Column by column, from products with unit vectors. */
BS_PUBLIC int bs_log_density_hessian(const bs_model* m, bool propto, bool jacobian, const double* theta_unc,
                                     double* value, double* gradient, double* hessian, char** error) {
  static const char* kWhat = "log_density_hessian";
  (void)propto;
  if (at_point(m, kWhat, &kGradient, jacobian, theta_unc, NULL, value, gradient, error) != 0) return -1;
  double* unit = calloc(NUM_UNC + 1, sizeof *unit);
  if (unit == NULL) return fail(error, kWhat, "no memory");
  int result = 0;
  for (size_t i = 0; i < NUM_UNC && result == 0; ++i) {
    double same_value;
    unit[i] = 1;
    result = at_point(m, kWhat, &kProduct, jacobian, theta_unc, unit, &same_value, hessian + i * NUM_UNC, error);
    unit[i] = 0;
  }
  free(unit);
  for (size_t i = 0; i < NUM_UNC && result == 0; ++i) {
    for (size_t k = 0; k < i; ++k) { /* two roundings of the same number */
      double *one = &hessian[i * NUM_UNC + k], *other = &hessian[k * NUM_UNC + i];
      *one = *other = *one / 2 + *other / 2;
    }
  }
  return result;
}

/* ---- parameters */

BS_PUBLIC int bs_param_constrain(const bs_model* m, bool include_tp, bool include_gq, const double* theta_unc,
                                 double* theta, bs_rng* rng, char** error) {
  (void)include_gq;
  (void)rng;
  return map(m, "param_constrain", include_tp ? &kConstrainAll : &kConstrain, theta_unc, theta, error);
}

static int fail_at(char** error, const char* what, const Variable* v, int64_t element, const char* why) {
  const size_t room = room_of_name(v->name, v->rank);
  char* name = malloc(room);
  if (name == NULL) return fail(error, what, "no memory");
  write_name(name, room, v->name, kDims + v->dims, v->rank, element);
  fail(error, what, "%s %s", name, why);
  free(name);
  return -1;
}

/* Within rounding. What is no number anywhere is not for this to find. */
static bool is_near(double one, double other) { return !(fabs(one - other) > 1e-8 * (1 + fabs(other))); }

/* Is each value that of its point, `again` what is there and `again_unc` its point? Near a bound many points have one
 * value, and in the middle of a wide interval rounding moves the value, but not the point: one of the two is the same.
 * Where elements depend on each other (a simplex), it must be the value: points know nothing of what their sum was. */
static int check_round_trip(const char* what, const double* theta, const double* theta_unc, const double* again,
                            const double* again_unc, char** error) {
  for (int i = 0; i < NUM_PARAMS; ++i) {
    const Variable* v = &kVariables[i];
    const int64_t size = size_of(kDims + v->dims, v->rank);
    const bool is_each_alone = size == size_of(kDims + v->unc_dims, v->unc_rank);
    for (int64_t k = 0; k < size; ++k) {
      const int64_t at = v->unc_start + k;
      if (is_near(again[v->start + k], theta[v->start + k])) continue;
      if (is_each_alone && is_near(again_unc[at], theta_unc[at])) continue;
      if (is_each_alone) return fail_at(error, what, v, k, "has a value outside of its support");
      return fail(error, what, "%s has values outside of its support", v->name);
    }
  }
  return 0;
}

/* Values that no unconstrained point has: PyMC's transforms give NaN for them, or the point of other values (of a
 * simplex, of an angle). */
static int check_values(const bs_model* m, const char* what, const double* theta, const double* theta_unc,
                        char** error) {
  for (int i = 0; i < NUM_PARAMS; ++i) {
    const Variable* v = &kVariables[i];
    const int64_t size = size_of(kDims + v->unc_dims, v->unc_rank);
    for (int64_t k = 0; k < size; ++k) {
      if (!isnan(theta_unc[v->unc_start + k])) continue;
      if (size == size_of(kDims + v->dims, v->rank))
        return fail_at(error, what, v, k, "has a value outside of its support");
      return fail(error, what, "%s has values outside of its support", v->name);
    }
  }
  double* again = malloc((NUM_VALUES + NUM_UNC + 1) * sizeof *again);
  if (again == NULL) return fail(error, what, "no memory");
  int result = map(m, what, &kConstrain, theta_unc, again, error);
  if (result == 0) result = map(m, what, &kUnconstrain, again, again + NUM_VALUES, error);
  if (result == 0) result = check_round_trip(what, theta, theta_unc, again, again + NUM_VALUES, error);
  free(again);
  return result;
}

static int unconstrain(const bs_model* m, const char* what, const double* theta, double* theta_unc, char** error) {
  if (map(m, what, &kUnconstrain, theta, theta_unc, error) != 0) return -1;
  return check_values(m, what, theta, theta_unc, error);
}

BS_PUBLIC int bs_param_unconstrain(const bs_model* m, const double* theta, double* theta_unc, char** error) {
  return unconstrain(m, "param_unconstrain", theta, theta_unc, error);
}

/* What JSON says of a variable, by `read_json`. */
typedef struct {
  double* theta;
  bool* is_given; /* by variable */
} Given;

static JsonArray array_of(void* context, const char* name, size_t length) {
  Given* given = context;
  JsonArray out = {NULL, NULL, 0};
  for (int i = 0; i < NUM_PARAMS; ++i) {
    const Variable* v = &kVariables[i];
    if (strlen(v->name) != length || memcmp(v->name, name, length) != 0) continue;
    given->is_given[i] = true;
    out.elements = given->theta + v->start;
    out.dims = kDims + v->dims;
    out.rank = v->rank;
  }
  return out;
}

static int values_of_json(const bs_model* m, const char* what, const char* json, Given given, char** error) {
  char why[256];
  const locale_t before = uselocale(m->c_locale);
  const int result = read_json(json, array_of, &given, why, sizeof why);
  uselocale(before);
  return result == 0 ? 0 : fail(error, what, "%s", why);
}

BS_PUBLIC int bs_param_unconstrain_json(const bs_model* m, const char* json, double* theta_unc, char** error) {
  static const char* kWhat = "param_unconstrain_json";
  bool is_given[NUM_PARAMS] = {false};
  double* theta = calloc(NUM_VALUES + 1, sizeof *theta);
  if (theta == NULL) return fail(error, kWhat, "no memory");
  int result = values_of_json(m, kWhat, json, (Given){theta, is_given}, error);
  for (int i = 0; i < NUM_PARAMS && result == 0; ++i) {
    if (!is_given[i]) result = fail(error, kWhat, "there is no value for %s", kVariables[i].name);
  }
  if (result == 0) result = unconstrain(m, kWhat, theta, theta_unc, error);
  free(theta);
  return result;
}

/* ---- random numbers: those of splitmix64, not Stan's */

BS_PUBLIC bs_rng* bs_rng_construct(unsigned int seed, char** error) {
  bs_rng* rng = malloc(sizeof *rng);
  if (rng == NULL) {
    fail(error, "rng_construct", "no memory");
    return NULL;
  }
  rng->state = seed;
  return rng;
}

BS_PUBLIC void bs_rng_destruct(bs_rng* rng) { free(rng); }

static double uniform(bs_rng* rng, double radius) {
  uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return radius * ((double)(z >> 11) * 0x1p-52 - 1);
}

/* Of each variable that is given, its unconstrained values; the others stay. A transform may depend on other variables,
 * of which some are given and some are not: as often as there are variables, what was found before is taken. */
static int put_given(const bs_model* m, const char* what, const Given* given, double* theta, double* found,
                     double* theta_unc, char** error) {
  for (int pass = 0; pass < NUM_PARAMS; ++pass) {
    if (map(m, what, &kConstrain, theta_unc, theta, error) != 0) return -1;
    for (int i = 0; i < NUM_PARAMS; ++i) {
      const Variable* v = &kVariables[i];
      const size_t size = (size_t)size_of(kDims + v->dims, v->rank);
      if (given->is_given[i]) memcpy(theta + v->start, given->theta + v->start, size * sizeof *theta);
    }
    if (map(m, what, &kUnconstrain, theta, found, error) != 0) return -1;
    bool is_same = true;
    for (int i = 0; i < NUM_PARAMS; ++i) {
      const Variable* v = &kVariables[i];
      const size_t bytes = (size_t)size_of(kDims + v->unc_dims, v->unc_rank) * sizeof *theta_unc;
      if (!given->is_given[i] || memcmp(theta_unc + v->unc_start, found + v->unc_start, bytes) == 0) continue;
      is_same = false;
      memcpy(theta_unc + v->unc_start, found + v->unc_start, bytes);
    }
    if (is_same) break;
  }
  return 0;
}

static int initialize(const bs_model* m, const Given* given, bs_rng* rng, double radius, int tries, bool jacobian,
                      double* theta_unc, double* room, char** error) {
  static const char* kWhat = "param_initialize";
  double *theta = room, *other = theta + NUM_VALUES + 1, value = 0;
  bool is_any = false, is_all = true;
  for (int i = 0; i < NUM_PARAMS; ++i) {
    is_any |= given->is_given[i];
    is_all &= given->is_given[i];
  }
  for (int i = 0; i < tries; ++i) {
    for (int k = 0; k < NUM_UNC; ++k) theta_unc[k] = uniform(rng, radius);
    if (is_any) {
      if (put_given(m, kWhat, given, theta, other, theta_unc, error) != 0) return -1;
      if (check_values(m, kWhat, theta, theta_unc, error) != 0) return -1;
    }
    const int result = at_point(m, kWhat, &kGradient, jacobian, theta_unc, NULL, &value, other, NULL);
    bool is_finite = result == 0 && isfinite(value);
    for (int k = 0; k < NUM_UNC; ++k) is_finite = is_finite && isfinite(other[k]);
    if (is_finite) return 0;
    if (is_all || radius == 0) tries = i + 1; /* all the others are the same */
  }
  return fail(error, kWhat, "the log density or its gradient is not finite at any of %d points", tries);
}

BS_PUBLIC int bs_param_initialize(const bs_model* m, const char* json, bs_rng* rng, double radius, int tries,
                                  bool jacobian, double* theta_unc, char** error) {
  static const char* kWhat = "param_initialize";
  if (rng == NULL) return fail(error, kWhat, "there is no random generator");
  if (!(radius >= 0 && isfinite(radius))) return fail(error, kWhat, "the radius is negative or not finite");
  bool is_given[NUM_PARAMS] = {false};
  const size_t num_values = NUM_VALUES + 1, num_unc = NUM_UNC;
  double* room = calloc(2 * num_values + num_unc, sizeof *room);
  if (room == NULL) return fail(error, kWhat, "no memory");
  const Given given = {room, is_given};
  int result = is_empty_json(json) ? 0 : values_of_json(m, kWhat, json, given, error);
  if (result == 0) result = initialize(m, &given, rng, radius, tries, jacobian, theta_unc, room + num_values, error);
  free(room);
  return result;
}
