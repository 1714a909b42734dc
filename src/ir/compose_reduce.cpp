#include "ir/compose_reduce.h"

#include <algorithm>

#include "ir/compose_fill.h"
#include "ir/compose_shape.h"

namespace inlay {
namespace {

/// The dims of x with 1 at each of `axes`, ascending.
std::vector<Dim> dims_with_ones(const GraphBuilder& b, ValueId x, const std::vector<int>& axes) {
  std::vector<Dim> dims = b.type(x).dims;
  for (int axis : axes) dims[axis] = 1;
  return dims;
}

enum class Takes : uint8_t { real, floats };

/// What a composition does not take it says itself, before an op does that it is made of and nobody has written.
void require_dtype(const GraphBuilder& b, ValueId x, Takes takes, std::string_view op) {
  const DType dtype = b.type(x).dtype;
  const bool is_real = !is_complex(dtype) && dtype != DType::opaque;
  if (takes == Takes::real ? is_real : is_float(dtype)) return;
  throw b.error(ErrorCode::wrong_dtype, str(op, ": does not take ", dtype_name(dtype)))
      .note("operand", b.graph().describe(x))
      .help(is_real ? "cast the operand to f64" : "");
}

DType sum_dtype(DType dtype) { return is_float(dtype) ? dtype : accumulator_of(dtype); }

/// The dtype of a mean before it is rounded to that of x.
DType mean_accumulator(DType dtype) { return is_float(dtype) ? accumulator_of(dtype) : DType::f64; }
DType mean_dtype(DType dtype) { return is_float(dtype) ? dtype : DType::f64; }

/// How many elements each result is made of, less `ddof`; not below 0, as NumPy has it.
ValueId count(GraphBuilder& b, ValueId x, const Axes& axes, int64_t ddof, DType dtype, std::string_view op) {
  Dim elements = 1;
  for (int axis : axes_of(b, x, axes, op)) elements = elements * b.type(x).dims[axis];
  return b.cast(b.size(ddof > 0 ? max(elements - ddof, 0) : elements - ddof), dtype);
}

/// The mean in the accumulator's dtype.
ValueId exact_mean(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep, std::string_view op) {
  require_dtype(b, x, Takes::real, op);
  const DType dtype = mean_accumulator(b.type(x).dtype);
  const ValueId total = reduce(b, Fold::add, x, axes, dtype, keep, op);
  return b.scalar(ScalarOp::div_, {total, count(b, x, axes, 0, dtype, op)});
}

ValueId exact_var(GraphBuilder& b, ValueId x, const Axes& axes, int64_t ddof, Keep keep, std::string_view op) {
  require_dtype(b, x, Takes::real, op);
  const DType dtype = mean_accumulator(b.type(x).dtype);
  const ValueId centred = b.scalar(ScalarOp::sub_, {b.cast(x, dtype), exact_mean(b, x, axes, Keep::yes, op)});
  const ValueId total = reduce(b, Fold::add, b.scalar(ScalarOp::square_, {centred}), axes, dtype, keep, op);
  return b.scalar(ScalarOp::div_, {total, count(b, x, axes, ddof, dtype, op)});
}

/// The row-major number of each element within `axes`, which are ascending: i64, stretching to the dims of x.
ValueId numbers_within(GraphBuilder& b, ValueId x, const std::vector<int>& axes) {
  const std::vector<Dim> dims = b.type(x).dims;
  ValueId number = b.literal(Literal::of_integer(DType::i64, 0));
  for (int axis : axes) {
    const ValueId place = places(b, dims[axis], static_cast<int>(dims.size()) - 1 - axis);
    number = axis == axes.front()
                 ? place
                 : b.scalar(ScalarOp::add_, {b.scalar(ScalarOp::mul_, {number, b.size(dims[axis])}), place});
  }
  return number;
}

ValueId arg_extreme(GraphBuilder& b, Fold fold, ValueId x, const Axes& axes, Keep keep, std::string_view op) {
  require_dtype(b, x, Takes::real, op);
  const DType dtype = b.type(x).dtype;
  const std::vector<int> along = axes_of(b, x, axes, op);
  const ValueId extreme = reduce(b, fold, x, axes, dtype, Keep::yes, op);
  ValueId found = b.scalar(ScalarOp::eq_, {x, extreme});
  if (is_float(dtype)) found = b.scalar(ScalarOp::or_, {found, b.scalar(ScalarOp::ne_, {x, x})});
  const ValueId never = b.literal(Literal::of_integer(DType::i64, INT64_MAX));
  const ValueId number = b.scalar(ScalarOp::select_, {found, numbers_within(b, x, along), never});
  return reduce(b, Fold::min, number, axes, DType::i64, keep, op);
}

/// x less its maximum where that is finite: exp of it does not overflow.
struct Shifted {
  ValueId by, x;  // by: with axes of one element
};

Shifted shifted(GraphBuilder& b, ValueId x, const Axes& axes, std::string_view op) {
  require_dtype(b, x, Takes::floats, op);
  const DType dtype = b.type(x).dtype;
  const ValueId maximum = reduce(b, Fold::max, x, axes, dtype, Keep::yes, op);
  const ValueId finite = b.scalar(ScalarOp::isfinite_, {maximum});
  const ValueId by = b.scalar(ScalarOp::select_, {finite, maximum, constant(b, dtype, 0)});
  return {by, b.scalar(ScalarOp::sub_, {x, by})};
}

/// x less its maximum: NaN throughout where that is infinite, and so is what has no probabilities.
ValueId less_maximum(GraphBuilder& b, ValueId x, const Axes& axes, std::string_view op) {
  require_dtype(b, x, Takes::floats, op);
  return b.scalar(ScalarOp::sub_, {x, reduce(b, Fold::max, x, axes, b.type(x).dtype, Keep::yes, op)});
}

/// log of the sum of exp(x), with axes of one element.
ValueId log_of_sum(GraphBuilder& b, ValueId x, const Axes& axes) {
  return b.scalar(ScalarOp::log_, {sum(b, b.scalar(ScalarOp::exp_, {x}), axes, Keep::yes)});
}

ValueId without_ones(GraphBuilder& b, ValueId reduced, const Axes& axes, Keep keep) {
  return keep == Keep::yes ? reduced : squeeze(b, reduced, axes);
}

}  // namespace

DType accumulator_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16: return DType::f32;
    case DType::f32:
    case DType::f64: return DType::f64;
    case DType::c64:
    case DType::c128: return DType::c128;
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64: return DType::u64;
    default: return DType::i64;
  }
}

ValueId reduce(GraphBuilder& b, Fold fold, ValueId x, const Axes& axes, DType accumulator, Keep keep,
               std::string_view op) {
  const std::vector<int> along = axes_of(b, x, axes, op);
  const std::vector<Dim> kept = dims_with_ones(b, x, along);
  const ValueId reduced = b.reduce(fold, x, along, accumulator);
  return keep == Keep::yes ? b.reshape(reduced, kept) : reduced;
}

ValueId sum(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  const DType dtype = b.type(x).dtype;
  return b.cast(reduce(b, Fold::add, x, axes, accumulator_of(dtype), keep, "sum"), sum_dtype(dtype));
}

ValueId prod(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  const DType dtype = b.type(x).dtype;
  return b.cast(reduce(b, Fold::mul, x, axes, accumulator_of(dtype), keep, "prod"), sum_dtype(dtype));
}

ValueId mean(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  return b.cast(exact_mean(b, x, axes, keep, "mean"), mean_dtype(b.type(x).dtype));
}

ValueId var(GraphBuilder& b, ValueId x, const Axes& axes, int64_t ddof, Keep keep) {
  return b.cast(exact_var(b, x, axes, ddof, keep, "var"), mean_dtype(b.type(x).dtype));
}

ValueId stddev(GraphBuilder& b, ValueId x, const Axes& axes, int64_t ddof, Keep keep) {
  const ValueId root = b.scalar(ScalarOp::sqrt_, {exact_var(b, x, axes, ddof, keep, "std")});
  return b.cast(root, mean_dtype(b.type(x).dtype));
}

ValueId all_of(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  return reduce(b, Fold::and_, as_bool(b, x), axes, DType::boolean, keep, "all");
}

ValueId any_of(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  return reduce(b, Fold::or_, as_bool(b, x), axes, DType::boolean, keep, "any");
}

ValueId argmax(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  return arg_extreme(b, Fold::max, x, axes, keep, "argmax");
}

ValueId argmin(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  return arg_extreme(b, Fold::min, x, axes, keep, "argmin");
}

ValueId logsumexp(GraphBuilder& b, ValueId x, const Axes& axes, Keep keep) {
  const Shifted moved = shifted(b, x, axes, "logsumexp");
  const ValueId result = b.scalar(ScalarOp::add_, {log_of_sum(b, moved.x, axes), moved.by});
  return without_ones(b, result, axes, keep);
}

ValueId softmax(GraphBuilder& b, ValueId x, const Axes& axes) {
  const ValueId exponentials = b.scalar(ScalarOp::exp_, {less_maximum(b, x, axes, "softmax")});
  return b.scalar(ScalarOp::div_, {exponentials, sum(b, exponentials, axes, Keep::yes)});
}

ValueId log_softmax(GraphBuilder& b, ValueId x, const Axes& axes) {
  const ValueId moved = less_maximum(b, x, axes, "log_softmax");
  return b.scalar(ScalarOp::sub_, {moved, log_of_sum(b, moved, axes)});
}

}  // namespace inlay
