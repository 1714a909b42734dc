#include "runtime/cpu_count.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace inlay::runtime {
namespace {

int usable_cpus() {
#if defined(__linux__)
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) return std::max(CPU_COUNT(&cpus), 1);
#endif
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

/// 0: it is no number, as "max" is none.
int64_t number(const std::string& text) {
  int64_t out = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc() && end == text.data() + text.size() ? out : 0;
}

/// In CPUs, rounded up; 0: there is none.
int quota_of(const std::string& microseconds, const std::string& period) {
  const int64_t used = number(microseconds), of = number(period);
  return used > 0 && of > 0 ? static_cast<int>((used + of - 1) / of) : 0;
}

/// "max 100000" or "150000 100000" (version 2 of control groups), else two files (version 1).
int group_quota() {
  std::string microseconds, period;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> microseconds >> period)
    return quota_of(microseconds, period);
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return quota_file >> microseconds && period_file >> period ? quota_of(microseconds, period) : 0;
}

}  // namespace

int cpu_count() {
  const int quota = group_quota();
  return quota > 0 ? std::min(usable_cpus(), quota) : usable_cpus();
}

}  // namespace inlay::runtime
