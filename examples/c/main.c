/* A program that knows nothing of inlay calls a function that inlay wrote as C:
 *
 *   inlay export softmax.inlay --size n=4 -o .
 *   cc -std=c99 -O2 -ffp-contract=off -fno-strict-aliasing main.c softmax.c -lm -o softmax && ./softmax
 */
#include <stdio.h>

#include "softmax.h"

/* The bytes that softmax works in, at the first address that is aligned. */
static char memory[softmax_ARENA_BYTES + softmax_ARENA_ALIGNMENT];

int main(void) {
  const double x[4] = {1, 2, 3, 4};
  double share[4], entropy;
  void* arena = memory + softmax_ARENA_ALIGNMENT - (uintptr_t)memory % softmax_ARENA_ALIGNMENT;
  const int32_t code = softmax(x, share, &entropy, arena);
  if (code != INLAY_OK) {
    fprintf(stderr, "softmax: %s\n", softmax_message(code));
    return 1;
  }
  for (int i = 0; i < 4; ++i) printf("%.17g\n", share[i]);
  printf("%.17g\n", entropy);
  return 0;
}
