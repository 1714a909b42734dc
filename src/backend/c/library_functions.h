#pragma once
// C99 for library ops: functions/fields.c and those behind it in sources.cpp.in, which are written for f64, for each
// dtype.
#include <vector>

#include "backend/c/functions.h"

namespace inlay::c_backend {

/// `written`: what such a file has. What ends with _f64 is there for each dtype that the ops take, with the types and
/// the functions of the C library and of BLAS that belong to it; for integers it is made of what ends with _i64 where
/// that is written too, for complex numbers of what ends with _c128. In all of these _r64 stands for the dtype of the
/// real parts, _c128 for that of complex numbers of them; what ends so itself is there for these dtypes.
std::vector<Function> for_fields(const std::vector<Function>& written);
std::vector<Function> for_reals(const std::vector<Function>& written);
std::vector<Function> for_ordered(const std::vector<Function>& written);

}  // namespace inlay::c_backend
