/* Two images of 28 x 28. networks.py writes the network. */
#include "digits.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(digits);

static float image[784], share[10];

int main(void) {
  uint32_t state = 8;
  for (int run = 0; run < 2; ++run) {
    for (int i = 0; i < 784; ++i) image[i] = next_number(&state);
    measure_begin();
    const int32_t code = digits(image, share, ARENA(digits));
    measure_end();
    require_ok(code);
    show("share", share, 10);
  }
  return 0;
}
