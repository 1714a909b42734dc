#pragma once
// The vector math functions as LLVM bitcode, for the emitter to copy into its loops.
//
// `<8 x double> inlay_v8_exp(<8 x double>)`, `<16 x float> inlay_v16_exp(<16 x float>)`: each function is a single
// basic block that calls LLVM intrinsics only and refers to no global. It needs AVX-512 (F, DQ). The bytes are static;
// a zero byte stands behind them, so they may be wrapped in a MemoryBuffer without a copy.
//
// A function is right everywhere, or, where there is an `i8 inlay_v8_<name>_domain(operands)`, in the lanes whose bit
// that sets, lane 0 the lowest. Where not all eight are set, the caller must branch to the scalar function, lane by
// lane.
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const unsigned char* bytes;
  size_t size;
} InlayBitcode;

InlayBitcode inlay_vector_math_bitcode(void);

#ifdef __cplusplus
}
#endif
