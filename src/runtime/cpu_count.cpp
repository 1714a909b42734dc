#include "runtime/cpu_count.h"

#include <algorithm>
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

/// Rounded up; 0: there is none.
int quota_of(double microseconds, double period) {
  return microseconds > 0 && period > 0 ? static_cast<int>((microseconds + period - 1) / period) : 0;
}

/// "max 100000" or "150000 100000" (version 2 of control groups), else two files (version 1).
int group_quota() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    return quota == "max" ? 0 : quota_of(std::strtod(quota.c_str(), nullptr), period);
  }
  double microseconds = 0;
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
