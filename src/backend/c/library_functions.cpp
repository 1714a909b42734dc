#include "backend/c/library_functions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "backend/c/math_items.h"
#include "backend/c/types.h"
#include "support/str.h"

namespace inlay::c_backend {
namespace {

constexpr DType kReals[] = {DType::f64, DType::f32};
constexpr DType kComplex[] = {DType::c128, DType::c64};
constexpr DType kFields[] = {DType::f64, DType::f32, DType::c128, DType::c64};
constexpr DType kOrdered[] = {DType::f64, DType::f32, DType::c128, DType::c64, DType::i64, DType::i32,    DType::i16,
                              DType::i8,  DType::u64, DType::u32,  DType::u16, DType::u8,  DType::boolean};

/// Of the C library: with an f behind it for float.
constexpr std::string_view kOfTwoTypes[] = {"copysign", "fabs", "sqrt"};

/// Of BLAS and LAPACK, with s in front for float.
constexpr std::string_view kOfBlas[] = {"dgemm_", "dgemv_", "dtrsm_", "dpotrf_", "dgetrf_"};

/// Of complex numbers that of C itself (fields.c), and no struct.
std::string type_text(DType dtype) {
  return is_complex(dtype) ? str("complex_", suffix(dtype)) : std::string(memory_type(dtype));
}

/// `word` of a function that is written for f64 or i64, `written`, in the copy for `dtype`.
std::string as_of(DType dtype, std::string_view word, DType written) {
  if (word == "real_r64") return type_text(real_of(dtype));
  if (word == memory_type(written)) return type_text(dtype);
  const auto with_end = [&](std::string_view end, DType instead) -> std::optional<std::string> {
    if (!word.ends_with(end)) return std::nullopt;
    return str(word.substr(0, word.size() - end.size()), "_", suffix(instead));
  };
  if (const auto out = with_end(str("_", suffix(written)), dtype)) return *out;
  if (const auto out = with_end("_r64", real_of(dtype))) return *out;
  if (const auto out = with_end("_c128", complex_of(dtype))) return *out;
  if (real_of(dtype) != DType::f32) return std::string(word);
  if (std::ranges::find(kOfBlas, word) != std::end(kOfBlas)) return str("s", word.substr(1));
  return str(word, std::ranges::find(kOfTwoTypes, word) != std::end(kOfTwoTypes) ? "f" : "");
}

Function copy_for(DType dtype, const Function& function, DType written) {
  const auto as = [&](std::string_view word) { return as_of(dtype, word, written); };
  return {as(function.name), with_words(function.text, as), {}};
}

std::vector<Function> for_each_of(std::span<const DType> dtypes, const std::vector<Function>& written) {
  const auto has = [&](const std::string& name) {
    return std::ranges::find(written, name, &Function::name) != written.end();
  };
  std::vector<Function> out;
  for (const Function& function : written) {
    const std::size_t at = std::min(function.name.rfind('_'), function.name.size());
    const std::string stem = function.name.substr(0, at), end = function.name.substr(at);
    const auto add = [&](std::span<const DType> to) {
      for (const DType dtype : to) out.push_back(copy_for(dtype, function, end == "_i64" ? DType::i64 : DType::f64));
    };
    if (end == "_r64") {
      add(kReals);
    } else if (end == "_c128") {
      add(kComplex);
    } else if (end == "_f64" || (end == "_i64" && has(stem + "_f64"))) {
      for (const DType dtype : dtypes) {
        const char* own = is_complex(dtype) ? "_c128" : is_float(dtype) ? "_f64" : "_i64";
        if (end == own || (end == "_f64" && !has(stem + own))) add({&dtype, 1});
      }
    } else {
      out.push_back(function);
    }
  }
  return out;
}

}  // namespace

std::vector<Function> for_fields(const std::vector<Function>& written) { return for_each_of(kFields, written); }

std::vector<Function> for_reals(const std::vector<Function>& written) { return for_each_of(kReals, written); }

std::vector<Function> for_ordered(const std::vector<Function>& written) { return for_each_of(kOrdered, written); }

}  // namespace inlay::c_backend
