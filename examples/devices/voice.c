/* Ten frames, one a call. The state stands in turns in two places. networks.py writes the network. */
#include "voice.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(voice);

static float frame[16], h[2][24], c[2][24], speech[1];

int main(void) {
  uint32_t state = 9;
  for (int step = 0; step < 10; ++step) {
    const int now = step % 2, next = 1 - now;
    for (int i = 0; i < 16; ++i) frame[i] = 2 * next_number(&state);
    measure_begin();
    const int32_t code = voice(frame, h[now], c[now], speech, h[next], c[next], ARENA(voice));
    measure_end();
    require_ok(code);
    show("speech", speech, 1);
    show("h", h[next], 24);
    show("c", c[next], 24);
  }
  return 0;
}
