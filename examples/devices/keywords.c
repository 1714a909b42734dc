/* Two pieces of sound, each as 49 frames of 10 cepstral coefficients. networks.py writes the network. */
#include "keywords.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(keywords);

static float mfcc[490], share[12];

int main(void) {
  uint32_t state = 7;
  for (int run = 0; run < 2; ++run) {
    for (int i = 0; i < 490; ++i) mfcc[i] = 2 * next_number(&state);
    measure_begin();
    const int32_t code = keywords(mfcc, share, ARENA(keywords));
    measure_end();
    require_ok(code);
    show("share", share, 12);
  }
  return 0;
}
