#pragma once
// The library ops by the book: plain loops, in double precision, for the oracles.
//
// No BLAS, no LAPACK, no blocking, and nothing of src/library, which it judges where that calls LAPACK. Where there is
// none, this stands in for it (library/by_the_book.cpp), and NumPy judges. Where a result is not unique (the
// sign of a singular vector) another one may be found than there; a test then compares what is unique.
#include <cstddef>
#include <optional>
#include <span>

#include "ops/library_op.h"

namespace inlay::textbook {

/// What the function found, and the matrix of the batch: {0} and {1} of the op's failure message.
struct Failure {
  int64_t number = 0, matrix = 0;
};

/// `operands` and `results` are row-major, `dtype` is the operands'. `sizes`: the batch, then by the letters of the
/// signature.
std::optional<Failure> run(LibraryOp op, LibraryOptions options, DType dtype,
                           std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                           std::span<const int64_t> sizes);

}  // namespace inlay::textbook
