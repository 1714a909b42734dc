/* board.h on the board virt with a RISC-V processor of 32 bits, as qemu has it, in machine mode. */
#include "board.h"

__attribute__((naked, section(".start"), used)) void start(void) {
  __asm__ volatile(
      ".option push\n"
      ".option norelax\n"
      ".option arch, +zicsr\n"
      "la gp, __global_pointer$\n"
      "la sp, stack_end\n"
      "la t0, trap\n"
      "csrw mtvec, t0\n"
#ifdef __riscv_flen
      "li t0, 1 << 13\n" /* the unit of floats may be used */
      "csrs mstatus, t0\n"
#endif
      "j run_program\n"
      ".option pop\n");
}

/* mtvec holds multiples of 4. */
__attribute__((aligned(4), used)) static void trap(void) { fault(); }

/* What and about whom is asked lies in a0 and a1. That this is no breakpoint is said by two instructions around it,
 * which do nothing; all three have 4 bytes and are in one page. */
__attribute__((naked, aligned(16))) void ask(uint32_t what, const void* about) {
  __asm__ volatile(
      ".option push\n"
      ".option norvc\n"
      "slli zero, zero, 0x1f\n"
      "ebreak\n"
      "srai zero, zero, 7\n"
      ".option pop\n"
      "ret\n");
  (void)what;
  (void)about;
}

static uint32_t cycles(void) {
  uint32_t number;
  __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, mcycle\n.option pop" : "=r"(number)::"memory");
  return number;
}

static uint32_t begin;

void clock_begin(void) { begin = cycles(); }

uint32_t clock_ticks(void) { return cycles() - begin; }
