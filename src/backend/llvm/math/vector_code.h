#pragma once
// The vector math functions as machine code, for calls: what is called costs nothing to compile.
//
// The same source and the same instructions as the bitcode (bitcode.h), under the same names, so a value is the same
// number whether its function was copied or called. Only a CPU that the bitcode is used on may call one.
#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name; /* inlay_d8_exp */
  void* address;
} InlayVectorCode;

/// All that the bitcode of eight, of four and of two doubles has, but the domains. At the end stands one without a
/// name.
extern const InlayVectorCode inlay_vector_code_8[] __attribute__((visibility("hidden")));
extern const InlayVectorCode inlay_vector_code_4[] __attribute__((visibility("hidden")));
extern const InlayVectorCode inlay_vector_code_2[] __attribute__((visibility("hidden")));

/// Those that this architecture has.
#if defined(__aarch64__)
#define INLAY_VECTOR_CODES {inlay_vector_code_2}
#else
#define INLAY_VECTOR_CODES {inlay_vector_code_8, inlay_vector_code_4, inlay_vector_code_2}
#endif

#ifdef __cplusplus
}
#endif
