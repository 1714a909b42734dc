#include "backend/llvm/cpu.h"

#include <cstdlib>

namespace inlay::llvm_backend {

std::string features_from_environment() {
  const char* text = std::getenv("INLAY_CPU_FEATURES");
  return text ? text : "";
}

bool has_vector_math(std::string_view features) {
  for (std::string_view off : {"-avx512f", "-avx512dq", "-avx2", "-avx"}) {
    for (std::size_t at = features.find(off); at != std::string_view::npos; at = features.find(off, at + 1)) {
      const std::size_t end = at + off.size();
      if (end == features.size() || features[end] == ',') return false;
    }
  }
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

}  // namespace inlay::llvm_backend
