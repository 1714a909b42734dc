#pragma once
// The threads of this process that run blocks of work (InlayBlocks), shared by all functions.
//
// A call that may use several threads takes those that are free when it has blocks to run, and runs alone where none
// is: so no more threads run than the process may have, whoever calls, and no call waits for another. A thread is
// started when the first call wants it, and sleeps when nobody does. A child of fork() starts its own.
#include "inlay/runtime.h"

namespace inlay::runtime {

/// More than that nobody has: who asks for more gets so many.
inline constexpr int kMostThreads = 1 << 16;

/// At most so many threads run functions at the same time, those that call among them. At first: INLAY_THREADS, or as
/// many as this process may run at once (cpu_count), also where it is no number of 1 or more.
int max_threads();
/// Throws Error(unsupported) for fewer than 1.
void set_max_threads(int count);

/// How many threads the pool has started in this process.
int num_pool_threads();

/// While it lives this thread counts as one that runs, once for all calls within calls, and InlayCall::pool may point
/// here. Made and destroyed by one thread.
class PoolUse {
 public:
  explicit PoolUse(int threads);
  ~PoolUse();
  PoolUse(const PoolUse&) = delete;
  PoolUse& operator=(const PoolUse&) = delete;

  int threads() const { return threads_; }

 private:
  const int threads_;
  const void* const pool_;  // of the process that made it
};

/// InlayCall::run_blocks of a call whose `pool` is a PoolUse.
int32_t run_blocks(InlayCall* call, const InlayBlocks* blocks);

}  // namespace inlay::runtime
