#pragma once
// Rows that are made once and, where there is one alone, read at each point of an axis.
#include <optional>
#include <span>

#include "kernel/kernel.h"

namespace inlay::transform {

/// `second`, which reads rows of `first` at a step that is 0 or 1 (`stretch`), over the rows that `first` makes: at
/// each of them its stages go over all points at which they read it. So the two may share their rows. Of n points, the
/// m rows are read at n - m + 1 each: m is n, or 1. None where a stage reads other rows too, or the checks do not say
/// so.
std::optional<kernel::Kernel> over_rows_of(const kernel::KernelProgram& program, const kernel::Kernel& first,
                                           const kernel::Kernel& second, std::span<const kernel::SizeCheck> checks);

}  // namespace inlay::transform
