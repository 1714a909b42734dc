#pragma once
// The vector math functions as machine code (AVX-512), for calls: what is called costs nothing to compile.
//
// The same source and the same instructions as the bitcode (bitcode.h), under the same names, so a value is the same
// number whether its function was copied or called. Only a CPU that the bitcode is used on may call one.
#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name; /* inlay_v8_exp */
  void* address;
} InlayVectorCode;

/// All that the bitcode has, but the domains. At the end stands one without a name.
extern const InlayVectorCode inlay_vector_code[] __attribute__((visibility("hidden")));

#ifdef __cplusplus
}
#endif
