#pragma once
// Which instruction sets the CPU at hand has: what decides whether code that was compiled elsewhere can run here.
#include <string>
#include <vector>

namespace inlay {

/// The architecture and their names, sorted, as LLVM has them: "avx2", "fma", "x86-64"; on aarch64 "hwcap.7" for each
/// bit that the kernel tells. Only those that a compiler uses by itself, and those whose registers the system saves.
const std::vector<std::string>& cpu_features();

}  // namespace inlay
