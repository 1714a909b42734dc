#pragma once
// How far the elements of a library function's operands and results are from each other where nothing lies between
// them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/library_op.h"

namespace inlay {

/// In elements: from one matrix or row of the batch to the next, then along the core axes. A row has one core axis: its
/// last number is 0.
template <class Size>
using LibraryStrides = std::array<Size, 3>;

/// How many elements an operand or a result has along the same axes.
template <class Size>
std::array<Size, 3> library_extents(LibraryOp op, const CoreAxes& axes, const std::vector<Size>& sizes) {
  std::array<Size, 3> out = {sizes[0], Size(1), Size(1)};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    out[a + 1] = core_size<Size>(facts(op).signature, axes[a], std::span(sizes).subspan(1));
  }
  return out;
}

/// Row-major: `axes` of an operand or a result in the signature, `sizes` of the batch and by the letters.
template <class Size>
LibraryStrides<Size> row_major_strides(LibraryOp op, const CoreAxes& axes, const std::vector<Size>& sizes) {
  const std::array<Size, 3> extents = library_extents(op, axes, sizes);
  if (axes.size() == 1) return {extents[1], Size(1), Size(0)};
  return {extents[1] * extents[2], extents[2], Size(1)};
}

}  // namespace inlay
