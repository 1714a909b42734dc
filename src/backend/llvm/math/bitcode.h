#pragma once
// The vector math functions as LLVM bitcode, for the emitter to copy into its loops.
//
// `<8 x double> inlay_d8_exp(<8 x double>)`, `<16 x float> inlay_f16_exp(<16 x float>)`: each function is a single
// basic block that calls LLVM intrinsics only, and refers to constant tables only. Those of eight doubles need AVX-512
// (F, DQ), those of four (inlay_d4_exp, inlay_f8_exp) AVX2 and FMA, those of two (inlay_d2_exp, inlay_f4_exp) what
// every x86-64, or every aarch64, has. The bytes are static; a zero byte stands behind them, so they may be wrapped in
// a MemoryBuffer without a copy.
//
// A function is right everywhere, or, where there is an `inlay_d8_<name>_domain(operands)`, in the lanes that this
// sets: bits of an i8 with AVX-512, lane 0 the lowest, else whole lanes of a vector of integers. Where not all are set,
// the caller must branch to the scalar function, lane by lane.
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const unsigned char* bytes;
  size_t size;
} InlayBitcode;

/// Of functions of 8, 4 or 2 doubles; on aarch64 of 2.
InlayBitcode inlay_vector_math_bitcode(int lanes);

#ifdef __cplusplus
}
#endif
