#include "backend/llvm/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "support/cpu_features.h"
#include "support/error.h"

namespace inlay::llvm_backend {

namespace {

/// The highest first; every CPU of the architecture has the last.
#if defined(__aarch64__)
constexpr CpuLevel kLevels[] = {{"neon", 16, ""}};
constexpr std::string_view kLevelsElsewhere[] = {"avx512", "avx2", "sse2"};
#else
constexpr CpuLevel kLevels[] = {{"avx512", 64, ""}, {"avx2", 32, "-avx512f"}, {"sse2", 16, "-sse3"}};
constexpr std::string_view kLevelsElsewhere[] = {"neon"};
#endif

/// Without its sign a feature is none: LLVM would take it for one that is there.
void require_signs(std::string_view features) {
  while (!features.empty()) {
    const std::size_t comma = std::min(features.find(','), features.size());
    if (features[0] != '-' && features[0] != '+') throw no_feature(features.substr(0, comma));
    features.remove_prefix(std::min(comma + 1, features.size()));
  }
}

Error has_no(std::string_view level) {
  return Error(ErrorCode::unsupported, {}, str("this CPU has no ", level))
      .help(str("its level is ", level_of("").name));
}

#if !defined(__aarch64__)

/// Does `features` take none of `names` away?
bool leaves(std::string_view features, std::initializer_list<std::string_view> names) {
  while (!features.empty()) {
    const std::size_t comma = std::min(features.find(','), features.size());
    for (std::string_view name : names) {
      if (features[0] == '-' && features.substr(1, comma - 1) == name) return false;
    }
    features.remove_prefix(std::min(comma + 1, features.size()));
  }
  return true;
}
#endif

}  // namespace

Error no_feature(std::string_view name) {
  return Error(ErrorCode::unknown_name, {}, str("there is no CPU feature `", name, "`"))
      .help(str("it is a level (", level_names(), ") or features as LLVM names them, with a sign: -avx512f"));
}

Error of_environment(const Error& error) {
  Diagnostic out = error.diagnostic();
  out.message = str("INLAY_CPU_FEATURES: ", out.message);
  return Error(std::move(out));
}

std::string features_of(std::string_view choice) {
  if (std::ranges::find(kLevelsElsewhere, choice) != std::end(kLevelsElsewhere)) throw has_no(choice);
  const auto level = std::ranges::find(kLevels, choice, &CpuLevel::name);
  if (level == std::end(kLevels)) {
    require_signs(choice);
    return std::string(choice);
  }
  if (level->vector_bytes > vector_bytes("")) throw has_no(choice);
  return std::string(level->above);
}

std::string features_from_environment() {
  const char* text = std::getenv("INLAY_CPU_FEATURES");
  try {
    return features_of(text ? text : "");
  } catch (const Error& error) {
    throw of_environment(error);
  }
}

std::string chosen_features(std::string_view named) {
  return named.empty() ? features_from_environment() : features_of(named);
}

const CpuLevel& level_of(std::string_view features) {
  return *std::ranges::find(kLevels, vector_bytes(features), &CpuLevel::vector_bytes);
}

std::string level_names() {
  return join(kLevels, ", ", [](const CpuLevel& level) { return level.name; });
}

#if defined(__aarch64__)
std::string_view architecture() { return "aarch64"; }

int vector_bytes(std::string_view /*features*/) { return 16; }

int vector_math_lanes(std::string_view /*features*/) { return 2; }

std::vector<std::string> needs_of(std::string_view /*features*/) { return cpu_features(); }
#else
std::string_view architecture() { return "x86-64"; }

int vector_bytes(std::string_view features) {
  // Each feature takes with it those that are built on it, and these are what LLVM builds AVX and AVX-512 on.
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && leaves(features, {"sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2"});
  if (!has_avx2) return 16;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                          leaves(features, {"fma", "f16c", "avx512f", "avx512dq", "avx512bw", "avx512vl"});
  return has_avx512 ? 64 : 32;
}

int vector_math_lanes(std::string_view features) {
  const int bytes = vector_bytes(features);
  const bool has_fma = __builtin_cpu_supports("fma") && leaves(features, {"fma"});
  return bytes == 64 ? 8 : bytes == 32 && has_fma ? 4 : 2;
}

std::vector<std::string> needs_of(std::string_view features) {
  std::vector<std::string> out = cpu_features();
  const int bytes = vector_bytes(features);
  std::erase_if(out, [&](const std::string& name) {
    const bool is_wide = name.starts_with("avx512");
    const bool is_vex = name.starts_with("avx") || name == "fma" || name == "f16c" || name == "vaes" ||
                        name == "vpclmulqdq" || name == "xop" || name == "fma4";
    return (is_wide && bytes < 64) || (is_vex && bytes < 32) || !leaves(features, {name});
  });
  return out;
}
#endif

}  // namespace inlay::llvm_backend
