#pragma once
// The texts that CMake puts into the library: see sources.cpp.in.
#include <array>
#include <string_view>

namespace inlay::c_backend {

inline constexpr int kNumSources = 17;
extern const std::array<std::string_view, kNumSources> kSources;  // functions/*.c
inline constexpr int kNumMatrixSources = 10;
extern const std::array<std::string_view, kNumMatrixSources> kMatrixSources;  // functions/fields.c, ...
extern const std::string_view kBlasSource;                                    // functions/blas.c
extern const std::string_view kRowSource;                                     // functions/rows.c
extern const std::string_view kMath;                                          // backend/llvm/math/*.h
extern const std::string_view kRuntimeHeader;

}  // namespace inlay::c_backend
