#pragma once
// One item after the other, each into the lowest gap that is free for as long as it lives.
#include <cstdint>
#include <span>
#include <vector>

#include "memory/search/order.h"
#include "memory/search/problem.h"

namespace inlay::memory::search {

/// Offsets in units, by item. Each item looks at all that were placed before it: quadratic.
std::vector<int64_t> first_fit(const Problem& problem, std::span<const Ranked> order);

}  // namespace inlay::memory::search
