#pragma once
// Reductions as NumPy and PyTensor mean them, out of folds with a dtype of their own.
//
// `axes` count from the end where they are negative; over none each element is reduced by itself. `Keep::yes` leaves an
// axis of one element where one was reduced. Over no elements: sum 0, prod 1, all true, any false, mean NaN, and the
// others fail (empty-reduction).
#include <cstdint>

#include "ir/builder.h"

namespace inlay {

enum class Keep : uint8_t { no, yes };
using Axes = std::vector<int64_t>;

/// The dtype that a sum or product of `dtype` is computed in: i64, u64 or f64; f32 for half precision.
DType accumulator_of(DType dtype);

/// `fold` over `axes`, computed and given in `accumulator`.
ValueId reduce(GraphBuilder& b, Fold fold, ValueId x, const Axes& axes, DType accumulator, Keep keep,
               std::string_view op);

/// Computed in `accumulator_of`; bool and integers become i64 (u64 for unsigned), floats keep their dtype.
///
/// Errors: axis-out-of-range.
/// Source: numpy.sum and prod, PyTensor's Sum and Prod.
ValueId sum(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);
ValueId prod(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);

/// A sum divided by the count, less `ddof` for var; bool and integers become f64.
/// var: the mean of the squared distances from the mean, in two passes; std: its root.
///
/// Source: numpy.mean, var, std.
ValueId mean(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);
ValueId var(GraphBuilder& b, ValueId x, const Axes& axes, int64_t ddof, Keep keep = Keep::no);
ValueId stddev(GraphBuilder& b, ValueId x, const Axes& axes, int64_t ddof, Keep keep = Keep::no);

/// bool: are all (is any) of the elements not zero? NaN is not zero.
///
/// Source: numpy.all, any.
ValueId all_of(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);
ValueId any_of(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);

/// i64: the row-major number, within `axes`, of the first maximum (minimum), or of the first NaN. Two folds: the
/// extreme, then the first place that has it.
///
/// Errors: axis-out-of-range, empty-reduction, wrong-dtype.
/// Source: numpy.argmax over one axis or all; PyTensor's Argmax over several.
ValueId argmax(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);
ValueId argmin(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);

/// log(sum(exp(x))), without overflow.
///
/// Source: scipy.special.logsumexp.
ValueId logsumexp(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep = Keep::no);

/// exp(x) / sum(exp(x)), without overflow, and its logarithm.
///
/// Source: scipy.special.softmax, log_softmax.
ValueId softmax(GraphBuilder& b, ValueId x, const Axes& axes);
ValueId log_softmax(GraphBuilder& b, ValueId x, const Axes& axes);

}  // namespace inlay
