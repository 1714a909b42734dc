#pragma once
// Arrays made of a rule, and choosing between two by a rule.
#include "ir/builder.h"

namespace inlay {

/// `value`, which is 0-d, everywhere.
///
/// Source: numpy.full.
ValueId full(GraphBuilder& b, ValueId value, std::vector<Dim> dims);

/// [rows, columns] of bool: true where the column is at most the row plus `offset`: on a diagonal and below it.
///
/// Source: numpy.tri.
ValueId tri(GraphBuilder& b, const Dim& rows, const Dim& columns, const Dim& offset);

/// [rows, columns]: 1 where the column is the row plus `offset`, else 0.
///
/// Source: numpy.eye.
ValueId eye(GraphBuilder& b, const Dim& rows, const Dim& columns, const Dim& offset, DType dtype);

/// x with zeros above (tril) or below (triu) a diagonal of its last two axes.
///
/// Errors: wrong-rank.
/// Source: numpy.tril, numpy.triu.
ValueId tril(GraphBuilder& b, ValueId x, const Dim& offset);
ValueId triu(GraphBuilder& b, ValueId x, const Dim& offset);

/// `yes` where the condition is not zero, else `no`.
///
/// Errors: wrong-dtype, shape-mismatch.
/// Source: numpy.where.
ValueId where(GraphBuilder& b, ValueId condition, ValueId yes, ValueId no);

/// x != 0; x itself where it is bool. NaN is true, as in NumPy.
ValueId as_bool(GraphBuilder& b, ValueId x);

/// 0, 1, ... along an axis: i64[length, 1, ..., 1] with `behind` ones, so that it stretches against the axes behind.
ValueId places(GraphBuilder& b, const Dim& length, int behind);

/// Cast to the dtype in which all of them meet (promote), for callers whose users mix dtypes.
std::vector<ValueId> promoted(GraphBuilder& b, std::vector<ValueId> operands);

/// c, as a 0-d value of the dtype.
ValueId constant(GraphBuilder& b, DType dtype, double c);

}  // namespace inlay
