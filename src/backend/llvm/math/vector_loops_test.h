#pragma once
// The vector functions as loops over arrays, for the tests: inlined into the loop, as the emitter does it.

typedef struct {
  const char* name;
  void (*loop)(const double* x, double* out, long count);                    // count: a multiple of 8
  void (*loop2)(const double* x, const double* y, double* out, long count);  // of two operands
  unsigned char (*domain)(const double* x, const double* y);                 // of 8 elements; null: everywhere
} InlayVectorFunction;

typedef struct {
  const char* name;
  void (*loop)(const float* x, float* out, long count);  // count: a multiple of 16
  int (*domain)(float x);                                // 0 or 65535; null: right everywhere
} InlayFloatFunction;

#ifdef __cplusplus
extern "C" {
#endif
extern const InlayVectorFunction inlay_vector_functions[];
extern const int inlay_num_vector_functions;
extern const InlayFloatFunction inlay_float_functions[];
extern const int inlay_num_float_functions;
#ifdef __cplusplus
}
#endif
