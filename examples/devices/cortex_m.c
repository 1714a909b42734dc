/* board.h on the boards mps2-an385 (Cortex-M3) and mps2-an505 (Cortex-M33), as qemu has them. */
#include "board.h"

__attribute__((section(".start"), used)) static const void* const vectors[] = {
    stack_end, (void*)start, (void*)fault, (void*)fault, (void*)fault, (void*)fault, (void*)fault};

void start(void) {
#ifdef __ARM_FP
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* the unit of floats may be used */
  __asm__ volatile("dsb\n isb");
#endif
  run_program();
}

void ask(uint32_t what, const void* about) {
  register uint32_t r0 __asm__("r0") = what;
  register const void* r1 __asm__("r1") = about;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

/* The system timer counts down, at the clock of the board. */
#define TIMER ((volatile uint32_t*)0xe000e010)

void clock_begin(void) {
  TIMER[1] = 0xffffff;
  TIMER[2] = 0;
  TIMER[0] = 5;
}

uint32_t clock_ticks(void) { return 0xffffff - TIMER[2]; }

/* Where newlib's libm puts errno. */
int* __errno(void) {
  static int number;
  return &number;
}
