#pragma once
// Reading and writing diagonals. The reading is a view; a writing compares the row with the column at each element of
// the square that holds the diagonal, which a loop over the result does in passing.
#include "ir/builder.h"

namespace inlay {

/// The elements of x with place on axis `second` = place on axis `first` + offset, along a new last axis.
///
/// Errors: wrong-rank, axis-out-of-range.
/// Source: numpy.diagonal.
ValueId extract_diagonal(GraphBuilder& b, ValueId x, int64_t offset, int64_t first, int64_t second);

/// The sum of that diagonal, in the dtype that `sum` gives.
///
/// Source: numpy.trace.
ValueId trace(GraphBuilder& b, ValueId x, int64_t offset, int64_t first, int64_t second);

/// Zeros, and v [..., n] on a diagonal of two axes of n + |offset| elements; those are axes `first` and `second` of the
/// result.
///
/// Errors: wrong-rank, axis-out-of-range.
/// Source: numpy.diag of a vector; PyTensor's AllocDiag.
ValueId alloc_diagonal(GraphBuilder& b, ValueId v, int64_t offset, int64_t first, int64_t second);

/// x with v on a diagonal of its last two axes; v broadcasts to the diagonal [..., k].
///
/// Errors: wrong-rank, wrong-dtype, shape-mismatch.
/// Source: jax.numpy.fill_diagonal with an array.
ValueId set_diagonal(GraphBuilder& b, ValueId x, ValueId v, int64_t offset);

/// x with `value`, which is 0-d, where all places are equal. Of more than two axes all must be of one size.
/// `Wrap::yes`: in a matrix with more rows than columns the diagonal begins again behind an empty row.
///
/// Errors: wrong-rank, wrong-dtype, shape-mismatch.
/// Source: numpy.fill_diagonal.
enum class Wrap : uint8_t { no, yes };
ValueId fill_diagonal(GraphBuilder& b, ValueId x, ValueId value, Wrap wrap);

}  // namespace inlay
