#pragma once
// Moves checks in front of the writes that they guard.
//
// A call that fails has changed no byte of the caller. A kernel that checks an index where it writes through it finds a
// bad one midway, so an update of a donated argument would begin with a copy. Instead the checks become stages of their
// own before the write: they read the indices and write nothing. After them the same indices are known to lie within
// their extents (Bounds::checked_before), and nothing can fail any more. Where the facts of the arrays say how large
// the extents must be for all indices to lie within them, as those of constants do, such a stage has no point in a call
// in which they are: one comparison stands for it.
#include "memory/plan.h"

namespace inlay::memory {

/// Adds such stages wherever they save a copy, since they read the indices once more; the rest stays as it is. What
/// fails, and with which site, is unchanged.
SharedProgram check_first(SharedProgram shared);

}  // namespace inlay::memory
