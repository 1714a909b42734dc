#include <stdbool.h>
#include <stdint.h>

/* Each storage, which is its number and the ticks of its life, at the lowest multiple of 64 where none lies that lives
 * in one of the same ticks; the bytes of all. They fit in 64 bits where their sum does. Offsets are by number. */
static int64_t place_storages(int64_t count, const int32_t (*storages)[3], const int64_t* bytes, int64_t* offsets) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t j = 0; j < i; ++j) {
      const bool live_together = storages[i][1] < storages[j][2] && storages[j][1] < storages[i][2];
      const int64_t other = offsets[storages[j][0]];
      if (live_together && at < other + bytes[j] && other < at + bytes[i]) {
        at = other + (bytes[j] + 63) / 64 * 64;
        j = -1;
      }
    }
    offsets[storages[i][0]] = at;
    if (bytes[i] > 0 && at + bytes[i] > total) total = at + bytes[i];
  }
  return total;
}
