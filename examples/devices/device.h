/* What a program for a small machine has to run on: here of the machine, or of a host that shall compute the same. */
#ifndef DEVICE_H
#define DEVICE_H
#include <stddef.h>
#include <stdint.h>

/* Prints `name` and the bits of the numbers. */
void show(const char* name, const float* numbers, int count);

/* Around what is measured: instructions, and bytes of the stack. A host knows neither and prints nothing. */
void measure_begin(void);
void measure_end(void);

/* Ends the program where a function did not return INLAY_OK. */
void require_ok(int32_t code);

/* The next number of a fixed sequence, in [-1, 1). */
static inline float next_number(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)(*state >> 8) * 0x1p-23f - 1.0f;
}
#endif
