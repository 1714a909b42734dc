#pragma once
// How many threads this process may run at once.
#include <filesystem>
#include <limits>

namespace inlay::runtime {

/// By the CPUs that the system lets it use and by the quotas of its control group and of those above it; 1 at least.
int cpu_count();

inline constexpr int kNoQuota = std::numeric_limits<int>::max();

/// The least of those quotas, in CPUs, rounded up. In `root` are proc and sys.
int group_quota(const std::filesystem::path& root);

}  // namespace inlay::runtime
