#include "backend/c/library_functions.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "backend/c/math_items.h"
#include "backend/c/types.h"
#include "support/str.h"

namespace inlay::c_backend {
namespace {

constexpr DType kFields[] = {DType::f64, DType::f32};
constexpr DType kOrdered[] = {DType::f64, DType::f32, DType::i64, DType::i32, DType::i16,    DType::i8,
                              DType::u64, DType::u32, DType::u16, DType::u8,  DType::boolean};

/// Of the C library: with an f behind it for float.
constexpr std::string_view kOfTwoTypes[] = {"copysign", "fabs", "sqrt"};

/// Of BLAS and LAPACK, with s in front for float.
constexpr std::string_view kOfBlas[] = {"dgemm_", "dgemv_", "dtrsm_", "dpotrf_", "dgetrf_"};

std::string as_of(DType dtype, std::string_view word, DType written) {
  const std::string end = "_" + suffix(written);
  if (word == memory_type(written)) return std::string(memory_type(dtype));
  if (word.ends_with(end)) return str(word.substr(0, word.size() - end.size()), "_", suffix(dtype));
  if (dtype == DType::f32 && std::ranges::find(kOfBlas, word) != std::end(kOfBlas)) return str("s", word.substr(1));
  const bool is_library = dtype == DType::f32 && std::ranges::find(kOfTwoTypes, word) != std::end(kOfTwoTypes);
  return str(word, is_library ? "f" : "");
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
    const std::string stem = function.name.substr(0, function.name.rfind('_'));
    const bool is_f64 = function.name == stem + "_f64", is_i64 = function.name == stem + "_i64";
    if (!is_f64 && !(is_i64 && has(stem + "_f64"))) {
      out.push_back(function);
      continue;
    }
    for (const DType dtype : dtypes) {
      const bool by_i64 = !is_float(dtype) && has(stem + "_i64");
      if (by_i64 == is_i64) out.push_back(copy_for(dtype, function, is_i64 ? DType::i64 : DType::f64));
    }
  }
  return out;
}

}  // namespace

std::vector<Function> for_fields(const std::vector<Function>& written) { return for_each_of(kFields, written); }

std::vector<Function> for_ordered(const std::vector<Function>& written) { return for_each_of(kOrdered, written); }

}  // namespace inlay::c_backend
