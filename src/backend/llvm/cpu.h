#pragma once
// What the CPU at hand can do, without asking LLVM.
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace inlay::llvm_backend {

/// A level of x86-64 or aarch64 CPUs, named for its vectors.
struct CpuLevel {
  std::string_view name;
  int vector_bytes;
  std::string_view above;  // as features, what the levels above it add: "-avx512f"
};

/// "x86-64", or "aarch64": what this program was built for.
std::string_view architecture();

/// The CPU at hand as `choice` says, as features that are laid over those that it has. A choice is a level, as
/// "avx2", or is such features itself, as "-avx512f,-fma"; empty: all that there is. Throws Error(unsupported) for a
/// level that this CPU does not have, Error(unknown_name) for a feature without a sign.
std::string features_of(std::string_view choice);

/// The same of the environment's INLAY_CPU_FEATURES, which its errors name: "avx2" makes every process take the CPU for
/// one without AVX-512.
std::string features_from_environment();

/// `error`, about features that the environment chose.
Error of_environment(const Error& error);

/// There is no CPU feature of that name.
Error no_feature(std::string_view name);

/// The features that a compilation has which names these: the environment's, where it names none.
std::string chosen_features(std::string_view named);

/// The level whose vectors the CPU has and `features` leaves.
const CpuLevel& level_of(std::string_view features);

/// What code for the CPU at hand with these features laid over it may use (support/cpu_features.h): another CPU must
/// have all of it to run that code.
std::vector<std::string> needs_of(std::string_view features);

/// All levels of the architecture, the highest first: "avx512, avx2, sse2".
std::string level_names();

/// The widest vectors that the CPU has and `features` leaves: 64 with AVX-512 (F, DQ, BW, VL), 32 with AVX2, else 16,
/// of NEON too.
int vector_bytes(std::string_view features);

/// How many doubles the vector math takes at a time: 8 with AVX-512, 4 with AVX2 and FMA, else 2.
int vector_math_lanes(std::string_view features);

}  // namespace inlay::llvm_backend
