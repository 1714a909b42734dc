#pragma once
// Types of arguments and results as a caller knows them, and what is said where an array has another.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ops/dtype.h"
#include "runtime/object.h"

namespace inlay::runtime {

DType dtype_of(const TensorSpec& spec);

/// Returns a type as text: `f64[3, 4]`, or `f64` without dims.
std::string type_text(std::string_view dtype, std::span<const std::string> dims);
std::string type_text(std::string_view dtype, std::span<const int64_t> dims);

/// Returns the error `x: dim 0 is 3, but must be 4`, or `... but must be n = 4` where the dim is known as `dim_text`.
Error wrong_dim(std::string_view name, std::size_t axis, int64_t is, int64_t must_be, std::string_view dim_text = {});

}  // namespace inlay::runtime
