/* What load_elf_test.cpp and executable_test.cpp load: compiled to an object of its own, never linked. It meets every
 * kind of section and relocation that compiled programs have. */
#include <stddef.h>

#include "inlay/runtime.h"

extern double outside_twice(double x); /* called: PLT32, or a stub */
extern const double outside_constant;  /* fetched: GOTPCREL */
extern void* memcpy(void*, const void*, size_t);

static const double table[4] = {1.0, 2.0, 4.0, 8.0}; /* rodata: PC32 */
static int64_t counter;                              /* bss */
int64_t start = 40;                                  /* data; global: through the GOT */

static double first(double x) { return x + table[1]; }
static double second(double x) { return x * table[2]; }
static double (*const functions[2])(double) = {first, second}; /* data.rel.ro: 64 */

double sample_table(size_t i) { return table[i & 3]; }
double sample_dispatch(size_t i, double x) { return functions[i & 1](x); }
double sample_outside(double x) { return outside_twice(x) + outside_constant; }
double (*sample_function(void))(double) { return outside_twice; }
int64_t sample_count(void) { return start + ++counter; }

const char* sample_name(int k) { /* a jump table, or a table of offsets */
  switch (k) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    case 4: return "four";
    default: return "many";
  }
}

/* out0[i] = x[i] + y[i] for n = symbols[0]; out1[0] = sum, through the arena. Fails at site 0 where x is negative. */
int32_t sample_add(InlayCall* call) {
  const double *x = call->params[0], *y = call->params[1];
  double *out = call->outputs[0], *sum = call->outputs[1], *arena = call->segments[0];
  const int64_t n = call->symbols[0];
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] < 0) {
      call->failure_site = 0;
      call->failure_numbers[0] = i;
      call->failure_numbers[1] = n;
      return INLAY_FAILED_AT_SITE;
    }
  }
  for (int64_t i = 0; i < n; ++i) arena[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) total += arena[i];
  memcpy(out, arena, (size_t)n * sizeof(double));
  *sum = total;
  return INLAY_OK;
}

/* out0 = x + 1, nothing else: what a call costs. */
int32_t sample_nothing(InlayCall* call) {
  *(double*)call->outputs[0] = *(const double*)call->params[0] + 1;
  return INLAY_OK;
}

/* -sum(x^2) / 2 and its gradient; logp is output 0. Fails where x[0] is 1000. */
int32_t sample_logp(InlayCall* call) {
  const double* x = call->params[0];
  double *logp = call->outputs[0], *grad = call->outputs[1];
  double total = 0;
  if (call->symbols[0] > 0 && x[0] == 1000) {
    call->failure_site = 0;
    return INLAY_FAILED_AT_SITE;
  }
  for (int64_t i = 0; i < call->symbols[0]; ++i) {
    total += x[i] * x[i];
    grad[i] = -x[i];
  }
  *logp = -total / 2;
  return INLAY_OK;
}

/* out0 = x, then y. Fails where x[0] is 1000. */
int32_t sample_expand(InlayCall* call) {
  const double *x = call->params[0], *y = call->params[1];
  double* out = call->outputs[0];
  if (call->symbols[0] > 0 && x[0] == 1000) {
    call->failure_site = 0;
    return INLAY_FAILED_AT_SITE;
  }
  for (int64_t i = 0; i < call->symbols[0]; ++i) out[i] = x[i];
  for (int64_t i = 0; i < call->symbols[1]; ++i) out[call->symbols[0] + i] = y[i];
  return INLAY_OK;
}

/* Two segments. A host call gives k numbers; out0 (late) is them doubled, by way of the second segment's block. */
int32_t sample_late(InlayCall* call) {
  void* results[1];
  int64_t dims[1];
  void* operands[1] = {(void*)call->params[0]};
  const int64_t operand_dims[1] = {call->symbols[0]};
  int32_t code = call->host_call(call, 0, operands, operand_dims, results, dims);
  if (code) return code;
  call->symbols[1] = dims[0];
  code = call->begin_segment(call, 1);
  if (code) return code;
  double* block = (double*)((char*)call->segments[1] + call->offsets[1]);
  for (int64_t i = 0; i < dims[0]; ++i) block[i] = 2 * ((const double*)results[0])[i];
  memcpy(call->outputs[0], block, (size_t)dims[0] * sizeof(double));
  return INLAY_OK;
}
