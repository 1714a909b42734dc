/* device.h on the boards mps2-an385 (Cortex-M3) and mps2-an505 (Cortex-M33), as qemu has them: vectors, start, output
 * by semihosting. There is no C library but libm, and no heap. */
#include "device.h"

extern uint32_t stack_begin[], stack_end[], data_begin[], data_end[], data_source[], zero_begin[], zero_end[];

int main(void);
void start(void);

static void stop(uint32_t reason);

/* Semihosting: a debugger, or qemu, does what r0 says. */
static uint32_t ask(uint32_t what, const void* about) {
  register uint32_t r0 __asm__("r0") = what;
  register const void* r1 __asm__("r1") = about;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void fault(void) { stop(0x20023); /* a run-time error */ }

__attribute__((section(".vectors"), used)) static const void* const vectors[] = {
    stack_end, (void*)start, (void*)fault, (void*)fault, (void*)fault, (void*)fault, (void*)fault};

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = ((const char*)from)[i];
  return to;
}

void* memset(void* to, int byte, size_t size) {
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = (char)byte;
  return to;
}

/* Where newlib's libm puts errno. */
int* __errno(void) {
  static int number;
  return &number;
}

void start(void) {
#ifdef __ARM_FP
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* the unit of floats may be used */
  __asm__ volatile("dsb\n isb");
#endif
  for (uint32_t *to = data_begin, *from = data_source; to < data_end;) *to++ = *from++;
  for (uint32_t* to = zero_begin; to < zero_end;) *to++ = 0;
  main();
  stop(0x20026); /* the program has ended */
}

static void stop(uint32_t reason) {
  ask(0x18, (const void*)(uintptr_t)reason);
  for (;;) {
  }
}

void require_ok(int32_t code) {
  if (code != 0) stop(0x20023);
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

/* The system timer counts down, at the clock of the board. */
#define TIMER ((volatile uint32_t*)0xe000e010)
#define UNUSED 0xa5a5a5a5u

void measure_begin(void) {
  const uint32_t* top = (const uint32_t*)__builtin_frame_address(0) - 16; /* below is nobody's */
  for (uint32_t* at = stack_begin; at < top; ++at) *at = UNUSED;
  TIMER[1] = 0xffffff;
  TIMER[2] = 0;
  TIMER[0] = 5;
}

void measure_end(void) {
  const uint32_t ticks = 0xffffff - TIMER[2];
  const uint32_t* at = stack_begin;
  while (*at == UNUSED) ++at;
  print("ticks");
  print_bits(ticks);
  print("\nstack");
  print_bits((uint32_t)((char*)__builtin_frame_address(0) - (const char*)at));
  print("\n");
}
