#pragma once
// Ending what takes long from outside: a signal's handler or another thread sets a number, the work looks at it now and
// then.
#include <atomic>
#include <cstdint>

namespace inlay {

/// Not 0: end soon. Machine code reads it as an int32_t.
using StopFlag = std::atomic<int32_t>;
static_assert(sizeof(StopFlag) == sizeof(int32_t) && StopFlag::is_always_lock_free);

/// One that nobody sets.
extern const StopFlag kNeverStop;

/// For as long as it lives, what this thread compiles, and what it calls through Executable, looks at `flag`.
class StopScope {
 public:
  explicit StopScope(const StopFlag& flag);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopFlag* const outer_;
};

/// What the innermost scope of this thread says; one that nobody sets where there is none.
const StopFlag& stop_flag() noexcept;
inline bool asked_to_stop() noexcept { return stop_flag().load(std::memory_order_relaxed) != 0; }

/// A place in long work where it may end, and where a fork may happen (fork_gate.h). Throws Error(interrupted).
void checkpoint();

}  // namespace inlay
