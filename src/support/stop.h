#pragma once
// Ends long work from outside: a signal handler or another thread sets a flag, and the work looks at it now and then.
#include <atomic>
#include <cstdint>

namespace inlay {

/// If it is not 0, the work ends soon. Machine code reads it as an int32_t.
using StopFlag = std::atomic<int32_t>;
static_assert(sizeof(StopFlag) == sizeof(int32_t) && StopFlag::is_always_lock_free);

/// A flag that is never set.
extern const StopFlag kNeverStop;

/// While this lives, `flag` ends what this thread compiles and what it calls through Executable.
class StopScope {
 public:
  explicit StopScope(const StopFlag& flag);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopFlag* const outer_;
};

/// Returns the flag of this thread's innermost StopScope, or kNeverStop without one.
const StopFlag& stop_flag() noexcept;
inline bool asked_to_stop() noexcept { return stop_flag().load(std::memory_order_relaxed) != 0; }

/// Long work may end here, and a fork may happen here (fork_gate.h). Throws Error(interrupted).
void checkpoint();

}  // namespace inlay
