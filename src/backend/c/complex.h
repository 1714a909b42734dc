#pragma once
#include <span>

#include "backend/c/types.h"

namespace inlay::c_backend {

/// As op_text, of complex operands.
std::string complex_op_text(Needs& needs, ScalarOp op, DType dtype, std::span<const std::string> operands);

}  // namespace inlay::c_backend
