#pragma once
// The threads of this process that run blocks of work (InlayBlocks), shared by all functions.
//
// A call that may use several threads takes those that are free when it has blocks to run, and runs alone where none
// is: so no more threads run than the process may have, whoever calls, and no call waits for another. A thread is
// started when the first call wants it, and sleeps when nobody does. A child of fork() starts its own.
#include <cstddef>

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

/// The threads of a caller, which no bound of this process counts.
struct CallersPool {
  using Task = void (*)(void* tasks, std::size_t number);

  /// Calls task(tasks, number) once for each number below `count`, on any threads, at the same time or not. It returns
  /// when all that it has called have ended, and calls none later: `tasks` is gone then. (A call waits for tasks that
  /// have begun, if it returns before; and runs what is left itself, if it has not called all.) It must not throw.
  void (*run)(void* pool, std::size_t count, Task task, void* tasks) = nullptr;
  void* pool = nullptr;
  int threads = 1;  // tasks at most
};

/// InlayCall::run_blocks of a call whose `pool` is a CallersPool. Each task looks at the flags of the call, and may
/// call `interrupted`.
int32_t run_blocks_by_caller(InlayCall* call, const InlayBlocks* blocks);

}  // namespace inlay::runtime
