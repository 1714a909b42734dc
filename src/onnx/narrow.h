#pragma once
// Constants of elements that inlay has no type for, of a byte or less, as elements of a type that has all of their
// values: integers as i8 or u8, floats as f16 or f32.
#include <cstdint>
#include <optional>

#include "onnx/model.h"

namespace inlay::onnx {

/// The dtype that has all values of a TensorProto.DataType; none: inlay has the type itself, or does not know it.
std::optional<DType> wide_dtype(int64_t type);
/// The bytes of so many elements of a TensorProto.DataType, of which several may share one; none: inlay does not know
/// the type, or they are too many for 64 bits.
std::optional<int64_t> bytes_of(int64_t type, int64_t num_elements);
/// The constant, which has as many bytes as its sizes say, with elements of `wide_dtype`.
Tensor widened(const Tensor& tensor);

}  // namespace inlay::onnx
