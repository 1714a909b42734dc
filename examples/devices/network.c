/* The weights are in the code. */
#include "network.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(network);

static float x[16], share[4];

int main(void) {
  uint32_t state = 5;
  for (int run = 0; run < 3; ++run) {
    for (int i = 0; i < 16; ++i) x[i] = 2 * next_number(&state);
    measure_begin();
    const int32_t code = network(x, share, ARENA(network));
    measure_end();
    require_ok(code);
    show("share", share, 4);
  }
  return 0;
}
