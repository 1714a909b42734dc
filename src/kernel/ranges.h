#pragma once
// Between which numbers a register of a stage is.
#include "kernel/kernel.h"

namespace inlay::kernel {

/// Is this a cast of a float, of dtype `from`, to integers, and the float NaN or a number of an i32 where it is
/// truncated? Said by what clips it between literals.
bool casts_within_i32(const Stage& stage, const Statement& cast, DType from);

}  // namespace inlay::kernel
