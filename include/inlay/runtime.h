#ifndef INLAY_RUNTIME_H
#define INLAY_RUNTIME_H
/* The C ABI between a compiled function and its caller.
 *
 * A compiled function is one entry point: int32_t entry(InlayCall*). All state of a call is in its
 * InlayCall; the code itself has none, so any number of threads may call it at once. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this interface and of the functions that code calls by name: code that is kept in a file runs only where it is the
 * same. */
#define INLAY_CODE_ABI 2

enum {
  INLAY_OK = 0,
  INLAY_FAILED_AT_SITE = 1,   /* failure_site and failure_numbers say where and why */
  INLAY_HOST_CALL_FAILED = 2, /* the host keeps the reason */
  INLAY_OUT_OF_MEMORY = 3,
  INLAY_SIZE_OVERFLOW = 4,      /* a size does not fit in 64 bits */
  INLAY_BEYOND_UPPER_BOUND = 5, /* a size is larger than its upper bound of compile time: failure_numbers are the
                                   symbol, its size and its upper bound */
  INLAY_INTERRUPTED = 6
};

typedef struct InlayCall InlayCall;
typedef struct InlayBlocks InlayBlocks;

struct InlayCall {
  /* Addresses by slot, row-major. Parameters are never written. An opaque value is passed as its handle. */
  const void* const* params;
  /* Addresses by slot. An output whose size is known at the entry is allocated by the caller; one whose size is known
   * later is set by begin_segment; an opaque one is set by the code. */
  void** outputs;
  /* Sizes, by symbol. The caller sets those that parameters bind, the code sets the others as it finds them. */
  int64_t* symbols;
  /* One block of working memory for each segment, 64-byte aligned; the caller sets block 0. */
  void** segments;
  /* The offset of each storage in its segment's block, in bytes, by storage. Null if the code has them as constants. */
  int64_t* offsets;

  /* Called where segment k > 0 begins and its sizes are known. Sets segments[k], its offsets and its outputs. */
  int32_t (*begin_segment)(InlayCall* call, int32_t segment);

  /* Runs host function `function` on row-major operands. `operand_dims` holds the operands' shapes one after the
   * other. Sets the row-major address of each result, valid until the call ends, and their shapes in `result_dims`,
   * one after the other. */
  int32_t (*host_call)(InlayCall* call, int32_t function, void* const* operands, const int64_t* operand_dims,
                       void** results, int64_t* result_dims);
  void* host; /* for begin_segment and host_call */

  int64_t failure_site;
  int64_t failure_numbers[4];

  /* Flags that the code looks at between steps and in long loops; null: the call is never interrupted. When the flag is
   * not 0, the code calls `interrupted`, which returns INLAY_OK to go on or INLAY_INTERRUPTED to end the call with that
   * code. From the first step on that writes to `outputs` or over a parameter, the code looks at the second flag
   * instead of the first: it stays 0 if those bytes must be unchanged after a call that fails. */
  const int32_t* stop;
  const int32_t* stop_while_writing;
  int32_t (*interrupted)(InlayCall* call);

  /* Runs blocks of work on several threads and returns as InlayBlocks says. Null: the code runs them itself, one after
   * the other. */
  int32_t (*run_blocks)(InlayCall* call, const InlayBlocks* blocks);
  void* pool; /* for run_blocks */
};

/* Work that is cut into blocks: how many there are depends on sizes alone, and so do the numbers that they make,
 * whoever runs them. Block k is run(call, passed, k, states, memory), in any order and on any threads, each with an
 * InlayCall of its own, of which it sets failure_site and failure_numbers; the others are as the caller's. If blocks
 * fail, the code and the numbers are those of the first of them. `memory` is memory_bytes of working memory that the
 * thread has for itself, 64-byte aligned; null for one of them, which uses the call's.
 *
 * What a block folds is in its states: state_bytes, 64-byte aligned. Two parts that follow each other become one by
 * merge(call, passed, states, later), which makes of the states of the first those of both: as a binary counter counts,
 * parts of as many blocks, and behind the last block all that are left, the latest two first. Those of all blocks must
 * be in `states` in the end. */
#define INLAY_MOST_BLOCKS 64
#define INLAY_BLOCK_STATES 7 /* so many parts there are at a time at most, if one block runs after the other */

struct InlayBlocks {
  int32_t (*run)(InlayCall* call, const void* passed, int64_t block, void* states, void* memory);
  /* Null: nothing is folded. Returns INLAY_OK. */
  int32_t (*merge)(InlayCall* call, const void* passed, void* states, const void* later);
  const void* passed;
  int64_t count;       /* 1 at least, INLAY_MOST_BLOCKS at most */
  int64_t state_bytes; /* a multiple of 64 */
  void* states;        /* of as many parts as there are at a time, if one block runs after the other */
  int64_t memory_bytes;
};

typedef int32_t (*InlayEntry)(InlayCall* call);

#ifdef __cplusplus
}
#endif
#endif
