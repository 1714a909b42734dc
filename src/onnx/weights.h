#pragma once
// Where weights lie: in the files of the model, or in a copy whose elements are aligned.
#include <optional>

#include "onnx/model.h"

namespace inlay::onnx {

/// The elements as code reads them: at multiples of their size, and bools that are 0 or 1. They stay in the file where
/// it has them so; a copy says what it is of.
Tensor aligned(const Tensor& tensor, DType dtype);

/// Where elements lie in a model: the number of its contents, and bytes from their begin.
struct Place {
  std::size_t contents = 0, offset = 0;
};

/// Where the elements of a weight, or what they were copied from, lie; none: they were computed.
std::optional<Place> place_of(const Model& model, const Tensor& weight);

/// The weight of that type and these sizes whose elements lie there in a model of the same contents. Errors:
/// invalid-file: there are no such bytes.
Tensor weight_at(const Model& model, Place place, int64_t type, std::vector<int64_t> dims);

}  // namespace inlay::onnx
