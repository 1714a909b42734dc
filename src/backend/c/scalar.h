#pragma once
// Scalar ops and conversions as C expressions.
#include <span>

#include "backend/c/types.h"

namespace inlay::c_backend {

/// `op` on operands of `dtype` (select: of its branches): names, constants or calls. What comes back is an expression
/// of the value_type of the result, to stand alone on the right of an assignment.
std::string op_text(Needs& needs, ScalarOp op, DType dtype, std::span<const std::string> operands);

/// NumPy's conversion. Out of range a float becomes the minimum integer.
std::string cast_text(Needs& needs, const std::string& value, DType from, DType to);
/// Of a float that lies in the range of an i32 once it is truncated, or is NaN, which is 0: without arithmetic on
/// doubles or integers of 64 bits, which small machines have no instructions for.
std::string small_cast_text(Needs& needs, const std::string& value, DType to);

/// A function of C99 of its own or of the C library, or what this backend has not, and calls.
enum class Origin : uint8_t { c99, called };
Origin origin_of(ScalarOp op, DType dtype);

}  // namespace inlay::c_backend
