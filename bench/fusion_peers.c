/* Fused loops as one would write them in C, for float and double. Compiled by clang-19 and by gcc-12 into one library,
 * which fusion.py loads: PEER gives every function the compiler's name. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define NAME3(name, type, peer) name##_##type##_##peer
#define NAME2(name, type, peer) NAME3(name, type, peer)
#define NAME(name) NAME2(name, T, PEER)

#define T double
#define EXP exp
#define LOG log
#define MAX fmax
#include "fusion_peers.inc"
#undef T
#undef EXP
#undef LOG
#undef MAX

#define T float
#define EXP expf
#define LOG logf
#define MAX fmaxf
#include "fusion_peers.inc"
