#include "runtime/cpu_count.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace inlay::runtime {

namespace fs = std::filesystem;

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

/// In CPUs.
int quota_of(const std::string& microseconds, const std::string& period) {
  const int64_t used = number(microseconds), of = number(period);
  if (used <= 0 || of <= 0) return kNoQuota;
  return static_cast<int>(std::min<int64_t>(used / of + (used % of != 0 ? 1 : 0), kNoQuota));
}

/// Of one group: "max 100000" or "150000 100000" (version 2 of control groups), else two files (version 1).
int quota_in(const fs::path& folder) {
  std::string microseconds, period;
  if (std::ifstream file(folder / "cpu.max"); file >> microseconds >> period) return quota_of(microseconds, period);
  std::ifstream quota_file(folder / "cpu.cfs_quota_us"), period_file(folder / "cpu.cfs_period_us");
  return quota_file >> microseconds && period_file >> period ? quota_of(microseconds, period) : kNoQuota;
}

/// The least of a group and of those above it, up to `mounted`. A container may see its own group there, and be told
/// the path that it has outside: whose folders it does not see have no quota.
int least_quota(const fs::path& mounted, const fs::path& group) {
  int least = quota_in(mounted);
  for (fs::path path = group.relative_path(); !path.empty(); path = path.parent_path()) {
    least = std::min(least, quota_in(mounted / path));
  }
  return least;
}

/// Of a line of /proc/self/cgroup: "0::/a/b" (version 2), or "4:cpu,cpuacct:/a/b" (version 1).
int quota_by_line(const fs::path& groups, std::string_view line) {
  const std::size_t first = line.find(':'), second = line.find(':', std::min(first, line.size() - 1) + 1);
  if (second == std::string_view::npos) return kNoQuota;
  const std::string controllers(line.substr(first + 1, second - first - 1));
  const std::string_view given = line.substr(second + 1);
  // A path that leads out of what this process sees names no folder here.
  const fs::path group = given.find("/..") == std::string_view::npos ? given : "/";
  if (controllers.empty()) return std::min(least_quota(groups, group), least_quota(groups / "unified", group));
  if (("," + controllers + ",").find(",cpu,") == std::string::npos) return kNoQuota;
  return std::min(least_quota(groups / controllers, group), least_quota(groups / "cpu", group));
}

}  // namespace

int group_quota(const fs::path& root) {
  int least = kNoQuota;
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) least = std::min(least, quota_by_line(root / "sys/fs/cgroup", line));
  }
  return least;
}

int cpu_count() { return std::min(usable_cpus(), group_quota("/")); }

}  // namespace inlay::runtime
