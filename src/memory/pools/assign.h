#pragma once
// Few groups: every choice of pools, what costs least first.
#include <optional>

#include "memory/pools/spill.h"

namespace inlay::memory::pools {

/// The first one that fits; none: there are too many choices, too many of them need a plan to be told wrong, or none
/// fits.
std::optional<Spilled> assign(const Problem& problem, const PoolPlanner& planner);

}  // namespace inlay::memory::pools
