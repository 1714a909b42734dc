#pragma once
// Where a call looks whether it shall end. Looking costs little time but much code, so what is known to be short is
// passed without.
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// So many points of a loop take less than 50 ms, whatever is computed at each.
constexpr int64_t kPointsBetweenLooks = 1 << 15;

/// Is it known to have no more points than that, all stages taken together?
bool is_short(const Kernel& kernel);

/// By step: does a call look before it? Since the last look it has passed no more than kPointsBetweenLooks points, or a
/// step that looks by itself. A library call looks before each of its matrices. (The body of a loop begins with a look
/// of the loop's own.)
std::vector<bool> looks_before(const KernelProgram& program);

}  // namespace inlay::kernel
