#pragma once
// The shapes of a library op: batch axes, then core axes as the signature of its row says.
#include <span>
#include <vector>

#include "ir/graph.h"

namespace inlay {

struct LibraryShape {
  std::vector<Dim> batch;  // leading axes: of every result, and of every operand that is not shared
  std::vector<Dim> sizes;  // by the letters of the signature; 1 where a plain vector leaves its axis out
  std::vector<TensorType> results;
};

/// Has this operand all its core axes? Then what stands before them is the batch. A plain vector lacks the optional
/// one.
bool has_all_core_axes(LibraryOp op, std::size_t operand, int rank);

/// The core axes that operand `i` of this rank has: all, or those that are not optional.
CoreAxes core_axes(LibraryOp op, std::size_t operand, int rank);

/// Of a node whose operands have the ranks, dtypes and equal sizes that the op asks for. Where two operands know a
/// size, the one that is a number counts.
LibraryShape library_shape(LibraryOp op, std::span<const TensorType> operands);

/// What is wrong with the operands apart from sizes, or empty.
std::string library_operands_problem(LibraryOp op, std::span<const TensorType> operands, ErrorCode& code);

}  // namespace inlay
