#pragma once
// Checks in front of what they guard.
//
// A call that fails has changed no byte of the caller's. A kernel that checks an index where it writes through it finds
// a bad one midway, so an update of a donated argument would begin with a copy. Instead the checks become stages of
// their own in front of the write: they read the indices and write nothing. Behind them the same indices are known to
// lie within their extents (Bounds::checked_before), and nothing can fail any more.
#include "memory/plan.h"

namespace inlay::memory {

/// The program with such stages wherever they let a copy fall away, for they read the indices once more; elsewhere as
/// it is. What fails, and with which site, stays as it was.
SharedProgram check_first(SharedProgram shared);

}  // namespace inlay::memory
