#pragma once
// Ctrl-C: what runs is asked to stop, so that its files and folders go; then the process ends by the signal, as whoever
// started it expects.
#include "support/stop.h"

namespace inlay::tool {

/// Stands in run_command_line.
class EndsByInterrupt {
 public:
  EndsByInterrupt();
  ~EndsByInterrupt();
  EndsByInterrupt(const EndsByInterrupt&) = delete;
  EndsByInterrupt& operator=(const EndsByInterrupt&) = delete;

 private:
  StopScope scope_;
};

}  // namespace inlay::tool
