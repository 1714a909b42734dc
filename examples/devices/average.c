/* Four blocks of samples, of which each begins where the last one ended. */
#include "average.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(average);

static float line[71], x[64], mean[64];

int main(void) {
  uint32_t state = 1;
  for (int block = 0; block < 4; ++block) {
    for (int i = 0; i < 64; ++i) x[i] = next_number(&state);
    measure_begin();
    const int32_t code = average(line, x, mean, ARENA(average));
    measure_end();
    require_ok(code);
    show("mean", mean, 64);
  }
  show("line", line, 71);
  return 0;
}
