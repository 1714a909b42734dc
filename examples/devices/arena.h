/* ARENA(name): working memory of an exported function, as many bytes as its header says, from a multiple of what it
 * says. Each program here has one function, so this file is compiled into each for itself. */
#ifndef ARENA_H
#define ARENA_H
#include <stdint.h>

/* Of 0 bytes nothing is read, and C has no such array: hence a byte more. */
#define ARENA(name) (name##_ARENA_BYTES > 0 ? (void*)arena_of_program : (void*)0)
#define ARENA_OF_PROGRAM(name) \
  static unsigned char arena_of_program[name##_ARENA_BYTES + 1] __attribute__((aligned(64)))
#endif
