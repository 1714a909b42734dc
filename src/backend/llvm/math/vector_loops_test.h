#pragma once
// The vector functions as loops over arrays, for the tests: inlined into the loop, as the emitter does it.

typedef struct {
  const char* name;
  void (*loop)(const double* x, double* out, long count);                    // count: a multiple of 8
  void (*loop2)(const double* x, const double* y, double* out, long count);  // of two operands
  unsigned char (*domain)(const double* x, const double* y);  // of 8 equal elements, 255 or 0; null: everywhere
} InlayVectorFunction;

typedef struct {
  const char* name;
  void (*loop)(const float* x, float* out, long count);  // count: a multiple of 16
  int (*domain)(float x);                                // all bits, or 0; null: right everywhere
} InlayFloatFunction;

typedef struct {
  const InlayVectorFunction* functions;  // at the end stands one without a name
  const InlayFloatFunction* float_functions;
} InlayVectorLoops;

#ifdef __cplusplus
extern "C" {
#endif
/// In lanes of 8 doubles (AVX-512), of 4 (AVX2) and of 2 (SSE2).
extern const InlayVectorLoops inlay_vector_loops_8, inlay_vector_loops_4, inlay_vector_loops_2;
/// In one, by the C99 of the C backend, with fused multiply-adds and without.
extern const InlayVectorLoops inlay_one_lane_fused, inlay_one_lane;
#ifdef __cplusplus
}
#endif

static inline const InlayVectorLoops* inlay_vector_loops(int lanes) {
  return lanes == 8 ? &inlay_vector_loops_8 : lanes == 4 ? &inlay_vector_loops_4 : &inlay_vector_loops_2;
}

/// One lane by the same operations.
static inline const InlayVectorLoops* inlay_one_lane_as(int lanes) {
  return lanes > 2 ? &inlay_one_lane_fused : &inlay_one_lane;
}

/// Whether the CPU at hand has them.
static inline int inlay_can_run(int lanes) {
  if (lanes == 8) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return lanes == 2 || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

static inline const char* inlay_level_of(int lanes) { return lanes == 8 ? "avx512" : lanes == 4 ? "avx2" : "sse2"; }
