#pragma once
// What the backend computes in vectors on the newest CPU that it knows, whatever this one is: for tables for readers,
// which say the same everywhere. What is compiled here goes by caps() of backend.h.
#include "kernel/caps.h"

namespace inlay::llvm_backend {

/// Of a CPU that has fused multiply-adds, for which every function of the vector math is compiled.
const kernel::BackendCaps& caps_with_all_math();

}  // namespace inlay::llvm_backend
