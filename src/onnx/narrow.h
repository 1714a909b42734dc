#pragma once
// Constants of elements that inlay has no type for, of a byte or less, as elements of a type that has all of their
// values: integers as i8 or u8, floats as f16 or f32.
#include <optional>

#include "onnx/model.h"

namespace inlay::onnx {

/// The dtype that has all values of a TensorProto.DataType; none: inlay has the type itself, or does not know it.
std::optional<DType> wide_dtype(int64_t type);
/// The constant with elements of `wide_dtype`. Errors: invalid-file: its bytes are not as many as its sizes say.
Tensor widened(const Tensor& tensor);

}  // namespace inlay::onnx
