#pragma once
/* The table of the functions of the C library that generated code calls; see standard_functions.c. */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  void* address;
} InlayStandardFunction;

extern const InlayStandardFunction inlay_standard_functions[];
extern const size_t inlay_num_standard_functions;

#ifdef __cplusplus
}
#endif
