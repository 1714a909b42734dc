/* What board.c has of the processor, cortex_m.c or riscv.c, and gives to it. */
#ifndef BOARD_H
#define BOARD_H
#include "device.h"

extern uint32_t stack_end[]; /* of board.ld; the stack grows down from here */

/* Where the processor starts, and what is called once there is a stack: does not return. */
void start(void);
void run_program(void);

/* Ends the emulation with a failure. */
void fault(void);

/* Semihosting: a debugger, or qemu, does what the number says. */
void ask(uint32_t what, const void* about);

/* A clock: its ticks since it began. */
void clock_begin(void);
uint32_t clock_ticks(void);
#endif
