#include "vector_code.h"

#include "vector_math_avx512.c"

#define EIGHT(name) {"inlay_v8_" #name, (void*)inlay_v8_##name},
#define SIXTEEN(name) {"inlay_v16_" #name, (void*)inlay_v16_##name},
const InlayVectorCode inlay_vector_code[] = {
#include "vector_code.def"
    {0, 0},
};
