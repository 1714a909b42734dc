#pragma once
// Where a call looks at its stop flag. Looking costs little time but much code, so work that is known to be short is
// done without a look.
#include <vector>

#include "kernel/kernel.h"
#include "kernel/nest.h"

namespace inlay::kernel {

/// This many points of a loop take less than 50 ms, whatever is computed at each.
constexpr int64_t kPointsBetweenLooks = 1 << 15;

/// Does a call look at every outer point, or tile? It does not if all stages together are known to have few points.
bool looks_at_outer_points(const Kernel& kernel);

/// Does it look at every row of a stage, in the loop around the innermost one?
bool looks_in_rows(const Kernel& kernel);

/// Does it look every kPointsBetweenLooks points of a stage's only loop? It does not if the loop is known to be short,
/// and all such stages together are. A loop around it looks instead: looking within each stage of a row as well makes
/// half as much code again.
bool looks_within(const Kernel& kernel, const Stage& stage, const LoopNest& nest);

/// Returns, by step, whether a call looks before it. Between two looks a call runs at most kPointsBetweenLooks points,
/// or a step that looks by itself. A library call looks before each of its matrices. (The body of a loop begins with a
/// look of its own.)
std::vector<bool> looks_before(const KernelProgram& program);

}  // namespace inlay::kernel
