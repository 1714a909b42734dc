/* device.h on a board: memory as a program of C wants it, output by semihosting, instructions and bytes of the stack.
 * There is no C library but libm, and no heap. The processor is that of cortex_m.c or riscv.c. */
#include "board.h"

extern uint32_t stack_begin[], data_begin[], data_end[], data_source[], zero_begin[], zero_end[];

int main(void);

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = ((const char*)from)[i];
  return to;
}

void* memset(void* to, int byte, size_t size) {
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = (char)byte;
  return to;
}

static void stop(uint32_t reason) {
  ask(0x18, (const void*)(uintptr_t)reason);
  for (;;) {
  }
}

void fault(void) { stop(0x20023); /* a run-time error */ }

void run_program(void) {
  for (uint32_t *to = data_begin, *from = data_source; to < data_end;) *to++ = *from++;
  for (uint32_t* to = zero_begin; to < zero_end;) *to++ = 0;
  main();
  stop(0x20026); /* the program has ended */
}

void require_ok(int32_t code) {
  if (code != 0) fault();
}

static void print(const char* text) { ask(0x04, text); }

static void print_bits(uint32_t bits) {
  char text[10] = " ";
  for (int i = 0; i < 8; ++i) text[1 + i] = "0123456789abcdef"[bits >> (28 - 4 * i) & 15];
  text[9] = 0;
  print(text);
}

void show(const char* name, const float* numbers, int count) {
  print(name);
  for (int i = 0; i < count; ++i) {
    const union {
      float number;
      uint32_t bits;
    } same = {numbers[i]};
    print_bits(same.bits);
  }
  print("\n");
}

#define UNUSED 0xa5a5a5a5u

void measure_begin(void) {
  const uint32_t* top = (const uint32_t*)__builtin_frame_address(0) - 16; /* below is nobody's */
  for (uint32_t* at = stack_begin; at < top; ++at) *at = UNUSED;
  clock_begin();
}

void measure_end(void) {
  const uint32_t ticks = clock_ticks();
  const uint32_t* at = stack_begin;
  while (*at == UNUSED) ++at;
  print("ticks");
  print_bits(ticks);
  print("\nstack");
  print_bits((uint32_t)((char*)__builtin_frame_address(0) - (const char*)at));
  print("\n");
}
