/* Ten steps after a target that moves by (1, -0.5) a second. What is believed of it stands in turns in two places. */
#include "kalman.h"

#include "arena.h"
#include "device.h"

ARENA_OF_PROGRAM(kalman);

static float mean[2][4], cov[2][16], z[2];

int main(void) {
  uint32_t state = 3;
  for (int i = 0; i < 4; ++i) cov[0][5 * i] = 10;
  for (int step = 0; step < 10; ++step) {
    const int now = step % 2, next = 1 - now;
    z[0] = 0.1f * (float)step + 0.5f * next_number(&state);
    z[1] = -0.05f * (float)step + 0.5f * next_number(&state);
    measure_begin();
    const int32_t code = kalman(mean[now], cov[now], z, mean[next], cov[next], ARENA(kalman));
    measure_end();
    require_ok(code);
    show("mean", mean[next], 4);
  }
  show("cov", cov[0], 16);
  return 0;
}
