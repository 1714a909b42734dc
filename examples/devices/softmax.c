#include "softmax.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(softmax);

static float x[64], share[64];

int main(void) {
  uint32_t state = 4;
  for (int i = 0; i < 64; ++i) x[i] = 8 * next_number(&state);
  measure_begin();
  const int32_t code = softmax(x, share, ARENA(softmax));
  measure_end();
  require_ok(code);
  show("share", share, 64);
  return 0;
}
