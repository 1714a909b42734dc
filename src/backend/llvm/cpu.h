#pragma once
// What the CPU at hand can do, without asking LLVM.
#include <string>
#include <string_view>

namespace inlay::llvm_backend {

/// The environment's INLAY_CPU_FEATURES: "-avx512f" makes every process take the CPU for one without AVX-512.
std::string features_from_environment();

/// Does the CPU have what the vector math is written in (AVX-512 F and DQ), and does `features` leave it?
bool has_vector_math(std::string_view features);

/// The features without which the vector math does not run. LLVM removes with them whatever needs them.
inline constexpr std::string_view kWithoutVectorMath = "-avx512f";

}  // namespace inlay::llvm_backend
