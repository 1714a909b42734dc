#pragma once
// What the CPU at hand can do, without asking LLVM.
#include <string>
#include <string_view>

namespace inlay::llvm_backend {

/// The environment's INLAY_CPU_FEATURES: "-avx512f" makes every process take the CPU for one without AVX-512.
std::string features_from_environment();

/// The widest vectors that the CPU has and `features` leaves: 64 with AVX-512 (F, DQ, BW, VL), 32 with AVX2, else 16.
int vector_bytes(std::string_view features);

/// How many doubles the vector math takes at a time: 8 with AVX-512, 4 with AVX2 and FMA, else 0: it cannot run.
int vector_math_lanes(std::string_view features);

}  // namespace inlay::llvm_backend
