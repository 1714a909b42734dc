#pragma once
// Where a call looks whether it shall end. Looking costs little time but much code, so what is known to be short is
// passed without.
#include <vector>

#include "kernel/kernel.h"
#include "kernel/nest.h"

namespace inlay::kernel {

/// So many points of a loop take less than 50 ms, whatever is computed at each.
constexpr int64_t kPointsBetweenLooks = 1 << 15;

/// Does a call look at every outer point, or tile? Not where all stages together are known to have few points.
bool looks_at_outer_points(const Kernel& kernel);

/// At every row of a stage: in the loop around its innermost?
bool looks_in_rows(const Kernel& kernel);

/// Every kPointsBetweenLooks points of a stage's only loop? Not where it is known to be short, and all stages like it
/// are short together. A loop around it looks in its place: looking within each stage of a row as well makes half as
/// much code again.
bool looks_within(const Kernel& kernel, const Stage& stage, const LoopNest& nest);

/// By step: does a call look before it? Since the last look it has passed no more than kPointsBetweenLooks points, or a
/// step that looks by itself. A library call looks before each of its matrices. (The body of a loop begins with a look
/// of the loop's own.)
std::vector<bool> looks_before(const KernelProgram& program);

}  // namespace inlay::kernel
