/* Four blocks of samples through one filter. */
#include "biquad.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(biquad);

static float state[2], x[64], y[64];

int main(void) {
  uint32_t seed = 2;
  for (int block = 0; block < 4; ++block) {
    for (int i = 0; i < 64; ++i) x[i] = next_number(&seed);
    measure_begin();
    const int32_t code = biquad(state, x, y, ARENA(biquad));
    measure_end();
    require_ok(code);
    show("y", y, 64);
  }
  show("state", state, 2);
  return 0;
}
