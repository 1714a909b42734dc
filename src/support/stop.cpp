#include "support/stop.h"

#include "support/error.h"
#include "support/fork_gate.h"

namespace inlay {
namespace {

thread_local const StopFlag* current = &kNeverStop;

}  // namespace

const StopFlag kNeverStop = 0;

StopScope::StopScope(const StopFlag& flag) : outer_(current) { current = &flag; }
StopScope::~StopScope() { current = outer_; }

const StopFlag& stop_flag() noexcept { return *current; }

void checkpoint() {
  ForkGate::let_through();
  if (asked_to_stop()) throw Error(ErrorCode::interrupted, {}, "compiling was interrupted");
}

}  // namespace inlay
