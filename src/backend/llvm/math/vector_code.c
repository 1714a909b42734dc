#include "vector_code.h"

#include "vector_math.c"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define OF_DOUBLES(name) {TEXT(DOUBLES(name)), (void*)DOUBLES(name)},
#define OF_FLOATS(name) {TEXT(FLOATS(name)), (void*)FLOATS(name)},
#if INLAY_LANES == 8
const InlayVectorCode inlay_vector_code_8[] = {
#elif INLAY_LANES == 4
const InlayVectorCode inlay_vector_code_4[] = {
#else
const InlayVectorCode inlay_vector_code_2[] = {
#endif
#include "ops/vector_functions.def"
    {0, 0},
};
