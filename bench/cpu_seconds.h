#pragma once
// The clock of what is measured by hand.
#include <ctime>

namespace inlay::bench {

/// That this process has computed for, on all its threads.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace inlay::bench
