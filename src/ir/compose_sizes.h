#pragma once
// What has a size that only its values tell, composed of as_size, compress, cumulative and plain ops.
//
// Each call adds nodes to the builder, binds new symbols where it must, and returns the result. None makes an array of
// the size of its operand besides the result; `repeat_each` and the reads and writes through a mask of lower rank than
// x keep one index vector, as long as what is selected.
#include <string>
#include <vector>

#include "ir/builder.h"

namespace inlay {

/// The 0-d integer `n` as a size; negative-size where it is negative when the program runs.
Dim late_size(GraphBuilder& b, ValueId n);

/// start, start + step, ... up to before stop, in `dtype`. Operands are 0-d numbers of any real dtypes.
///
/// Shapes:   [max(ceil((stop - start) / step), 0)]: of integers exactly, else in f64.
/// Numerics: element i is first + i * ((start + step) - first), in `dtype`: as NumPy fills it.
/// Errors:   negative-size where the length is no number; `zero-step`.
/// Source:   numpy.arange (NumPy 2).
ValueId arange(GraphBuilder& b, ValueId start, ValueId stop, ValueId step, DType dtype);

/// Where x is not 0 (NaN is not): the coordinates, one i64 vector for each axis, in row-major order.
/// Errors:   wrong-rank for rank 0. Source: numpy.nonzero.
std::vector<ValueId> nonzero(GraphBuilder& b, ValueId x);

/// x[mask]: a bool mask over the leading axes of x, rank 1 or more, of their dims. Source: NumPy, boolean array
/// indexing. Shapes:   x [d0 ... dk, rest], mask [d0 ... dk] -> [number of true, rest].
ValueId read_where(GraphBuilder& b, ValueId x, ValueId mask);

/// x with x[mask] combined with v, which broadcasts to that shape. A v that is the same for every place (its rank is at
/// most that of `rest`) is selected where the mask holds; else the rows of v go to the places in order.
ValueId write_where(GraphBuilder& b, Combine combine, ValueId x, ValueId mask, ValueId v);

/// Each slice of x along `axis` `count` times, a 0-d integer. Source: numpy.repeat.
ValueId repeat(GraphBuilder& b, ValueId x, ValueId count, int axis);

/// Slice i of x along `axis` counts[i] times: one count for each, or one for all (a static length of 1).
/// Errors:   negative-size for a negative count. Source: numpy.repeat.
ValueId repeat_each(GraphBuilder& b, ValueId x, ValueId counts, int axis);

/// The different elements of x, all axes as one, ascending; NaN, which counts as one, last.
struct Unique {
  ValueId values;   // [k]
  ValueId first;    // [k] i64: where in x each stands first
  ValueId inverse;  // [elements of x] i64: x == values[inverse]
  ValueId counts;   // [k] i64: how often
};
/// Source: numpy.unique. What of it is not used is not computed.
Unique unique(GraphBuilder& b, ValueId x);

}  // namespace inlay
