#pragma once
// How many threads this process may run at once.

namespace inlay::runtime {

/// By the CPUs that the system lets it use and by the quota of its control group; 1 at least.
int cpu_count();

}  // namespace inlay::runtime
