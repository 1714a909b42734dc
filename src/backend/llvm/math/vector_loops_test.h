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
/// In lanes of 8 doubles (AVX-512) and of 4 (AVX2).
extern const InlayVectorLoops inlay_vector_loops_8, inlay_vector_loops_4;
#ifdef __cplusplus
}
#endif
