/* The log density of a PyMC model and its gradient, at three points. */
#include "radon.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(radon);

static float point[175], logp[1], gradient[175];

int main(void) {
  uint32_t state = 6;
  for (int run = 0; run < 3; ++run) {
    for (int i = 0; i < 175; ++i) point[i] = 0.5f * next_number(&state);
    measure_begin();
    const int32_t code = radon(point, logp, gradient, ARENA(radon));
    measure_end();
    require_ok(code);
    show("logp", logp, 1);
    show("gradient", gradient, 175);
  }
  return 0;
}
