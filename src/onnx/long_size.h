#pragma once
#include "ir/dim.h"

namespace inlay::onnx {

/// Is it of so many symbols, quotients, clamps and sums that arithmetic on it takes long?
bool is_long(const Dim& size);

}  // namespace inlay::onnx
