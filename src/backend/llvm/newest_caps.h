#pragma once
// What the backend computes in vectors on the newest CPU that it knows, whatever this one is: for tables for readers,
// which say the same everywhere. What is compiled here goes by caps() of backend.h.
#include "kernel/caps.h"

namespace inlay::llvm_backend {

/// Of a CPU with AVX-512.
const kernel::BackendCaps& caps_with_avx512();

}  // namespace inlay::llvm_backend
