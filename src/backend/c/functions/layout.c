#include <stdbool.h>
#include <stdint.h>

/* Each storage at the lowest multiple of 64 where none lies that lives in one of the same ticks; the bytes of all. They
 * fit in 64 bits where their sum does. */
static int64_t place_storages(int64_t count, const int32_t (*lives)[2], const int64_t* bytes, int64_t* offsets) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t j = 0; j < i; ++j) {
      const bool live_together = lives[i][0] < lives[j][1] && lives[j][0] < lives[i][1];
      if (live_together && at < offsets[j] + bytes[j] && offsets[j] < at + bytes[i]) {
        at = offsets[j] + (bytes[j] + 63) / 64 * 64;
        j = -1;
      }
    }
    offsets[i] = at;
    if (bytes[i] > 0 && at + bytes[i] > total) total = at + bytes[i];
  }
  return total;
}
