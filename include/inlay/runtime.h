#ifndef INLAY_RUNTIME_H
#define INLAY_RUNTIME_H
/* The C ABI between a compiled function and whoever calls it.
 *
 * A compiled function is one entry point: int32_t entry(InlayCall*). Everything that belongs to one call stands in its
 * InlayCall; the code itself has no state, so any number of threads may call it at once. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  INLAY_OK = 0,
  INLAY_FAILED_AT_SITE = 1,   /* failure_site and failure_numbers say where and why */
  INLAY_HOST_CALL_FAILED = 2, /* the host keeps the reason */
  INLAY_OUT_OF_MEMORY = 3,
  INLAY_SIZE_OVERFLOW = 4,      /* a size does not fit in 64 bits */
  INLAY_BEYOND_UPPER_BOUND = 5, /* a size is larger than was said when the function was compiled: failure_numbers are
                                   the symbol, its size and its upper bound */
  INLAY_INTERRUPTED = 6
};

typedef struct InlayCall InlayCall;

struct InlayCall {
  /* Row-major, by slot. Parameters are never written. An opaque value is its handle. */
  const void* const* params;
  /* By slot. An output whose size is known at the entry is allocated by the caller; one whose size is known later is
   * set by begin_segment; an opaque one is set by the code. */
  void** outputs;
  /* Sizes, by symbol. Those bound by parameters are set by the caller, the others by the code on its way. */
  int64_t* symbols;
  /* One block of working memory for each segment; block 0 is set by the caller. 64-byte aligned. */
  void** segments;
  /* Where each storage lies in its segment's block, in bytes, by storage. Null when the code has them as constants. */
  int64_t* offsets;

  /* Called where segment k > 0 begins: its sizes are known now. Sets segments[k], its offsets and its outputs. */
  int32_t (*begin_segment)(InlayCall* call, int32_t segment);

  /* Runs host function `function` on row-major operands. `dims` hold the operands' shapes one after the other.
   * Sets for each result a row-major address that stays valid until the call ends, and its shape, one after the other.
   */
  int32_t (*host_call)(InlayCall* call, int32_t function, void* const* operands, const int64_t* operand_dims,
                       void** results, int64_t* result_dims);
  void* host; /* for begin_segment and host_call */

  int64_t failure_site;
  int64_t failure_numbers[4];

  /* Numbers that the code looks at between steps and in long loops; null: nobody ends it. Not 0: it calls
   * `interrupted`, which returns INLAY_OK for it to go on, or INLAY_INTERRUPTED for it to end with that. From the first
   * step on that writes to `outputs`, or over a parameter, the second is looked at instead of the first: one that stays
   * 0 where those bytes must be as they were after a call that fails. */
  const int32_t* stop;
  const int32_t* stop_while_writing;
  int32_t (*interrupted)(InlayCall* call);
};

typedef int32_t (*InlayEntry)(InlayCall* call);

#ifdef __cplusplus
}
#endif
#endif
