#pragma once
#include "kernel/kernel.h"

namespace inlay::kernel {

/// Drops what neither writes nor can fail, and makes no register that is read.
void drop_unused(Stage& stage);

}  // namespace inlay::kernel
