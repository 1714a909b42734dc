#pragma once
// Between which numbers a register of a stage is.
#include "kernel/kernel.h"

namespace inlay::kernel {

/// Is it NaN, or a number of an i32, so that it is one where it is truncated? Said by what clips it between literals.
bool fits_i32(const Stage& stage, RegisterId r);

}  // namespace inlay::kernel
