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
/// In lanes of 8 doubles (AVX-512), of 4 (AVX2) and of 2 (SSE2, or NEON).
extern const InlayVectorLoops inlay_vector_loops_8, inlay_vector_loops_4, inlay_vector_loops_2;
/// In one, by the C99 of the C backend, with fused multiply-adds and without.
extern const InlayVectorLoops inlay_one_lane_fused, inlay_one_lane;
#ifdef __cplusplus
}

namespace inlay::llvm_backend {

/// What there is on this architecture, by the name of the CPU's level.
struct VectorWidth {
  int lanes = 0;  // doubles
  const char* name = nullptr;
  bool can_run = false;  // here
  bool is_fused = true;
  const InlayVectorLoops* loops = nullptr;
  const InlayVectorLoops* one_lane = nullptr;  // by the same operations
};

#if defined(__aarch64__)
inline const VectorWidth kVectorWidths[] = {{2, "neon", true, true, &inlay_vector_loops_2, &inlay_one_lane_fused}};
#else
inline const VectorWidth kVectorWidths[] = {
    {8, "avx512", __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"), true, &inlay_vector_loops_8,
     &inlay_one_lane_fused},
    {4, "avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), true, &inlay_vector_loops_4,
     &inlay_one_lane_fused},
    {2, "sse2", true, false, &inlay_vector_loops_2, &inlay_one_lane}};
#endif
constexpr const char* kCannotRun = "this machine has no such vectors";

}  // namespace inlay::llvm_backend
#endif
