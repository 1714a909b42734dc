/* device.h on a host. */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

void show(const char* name, const float* numbers, int count) {
  printf("%s", name);
  for (int i = 0; i < count; ++i) {
    const union {
      float number;
      uint32_t bits;
    } same = {numbers[i]};
    printf(" %08lx", (unsigned long)same.bits);
  }
  printf("\n");
}

void measure_begin(void) {}

void measure_end(void) {}

void require_ok(int32_t code) {
  if (code != 0) exit(1);
}
