#include "ir/compose_pad.h"

#include "ir/compose_fill.h"
#include "support/counted.h"

namespace inlay {
namespace {

ValueId pad_with(GraphBuilder& b, ValueId x, const std::vector<Dim>& before, const std::vector<Dim>& after,
                 ValueId value) {
  const std::vector<Dim> inner = b.type(x).dims;
  std::vector<Dim> dims;
  std::vector<IndexItem> index;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    dims.push_back(before[i] + inner[i] + after[i]);
    index.push_back(IndexItem::range(before[i], before[i] + inner[i]));
  }
  return b.update(Combine::set, b.broadcast(value, std::move(dims)), std::move(index), x);
}

/// Which element of an axis of `length` stands at `place`, an i64 that is counted from the axis' own first element.
ValueId source_of(GraphBuilder& b, ValueId place, const Dim& length, PadMode mode) {
  const ValueId last = b.size(length - 1);
  const auto mirrored = [&](const Dim& period, const Dim& turn) {
    const ValueId within = b.scalar(ScalarOp::mod_, {place, b.size(period)});
    return b.scalar(ScalarOp::min_, {within, b.scalar(ScalarOp::sub_, {b.size(turn), within})});
  };
  switch (mode) {
    case PadMode::wrap: return b.scalar(ScalarOp::mod_, {place, b.size(length)});
    case PadMode::symmetric: return mirrored(Dim(2) * length, Dim(2) * length - 1);
    // Of one element, every place is that one: the period may not be 0.
    case PadMode::reflect: return mirrored(max(Dim(2) * length - 2, 1), Dim(2) * length - 2);
    case PadMode::edge:
    case PadMode::constant: break;
  }
  const ValueId zero = b.literal(Literal::of_integer(DType::i64, 0));
  return b.scalar(ScalarOp::max_, {b.scalar(ScalarOp::min_, {place, last}), zero});
}

/// One gather through an index for each axis from the first that grows to the last, so that nothing is stored between
/// axes.
ValueId pad_from_within(GraphBuilder& b, ValueId x, const std::vector<Dim>& before, const std::vector<Dim>& after,
                        PadMode mode) {
  const std::vector<Dim> dims = b.type(x).dims;
  const auto grows = [&](std::size_t axis) { return !before[axis].is(0) || !after[axis].is(0); };
  std::size_t first = 0, end = dims.size();
  while (first < end && !grows(first)) ++first;
  while (end > first && !grows(end - 1)) --end;
  if (first == end) return x;
  std::vector<IndexItem> index;
  for (std::size_t axis = 0; axis < end; ++axis) {
    if (axis < first) {
      index.push_back(IndexItem::range(0, dims[axis]));
      continue;
    }
    ValueId place = places(b, before[axis] + dims[axis] + after[axis], static_cast<int>(end - 1 - axis));
    if (!before[axis].is(0)) place = b.scalar(ScalarOp::sub_, {place, b.size(before[axis])});
    index.push_back(IndexItem::through(grows(axis) ? source_of(b, place, dims[axis], mode) : place));
  }
  return b.gather(x, std::move(index));
}

}  // namespace

ValueId pad(GraphBuilder& b, ValueId x, const std::vector<Dim>& before, const std::vector<Dim>& after, PadMode mode,
            ValueId value) {
  const std::size_t rank = b.type(x).dims.size();
  if (before.size() != rank || after.size() != rank) {
    throw b
        .error(ErrorCode::wrong_arity, str("pad: ", counted(before.size(), "width"), " before and ", after.size(),
                                           " behind for ", counted(static_cast<std::size_t>(rank), "axis", "axes")))
        .note("operand", b.graph().describe(x));
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (const Dim& width : {before[axis], after[axis]}) {
      b.require(DimCheck::Relation::at_most, 0, width, ErrorCode::slice_out_of_range,
                str("pad: axis ", axis, " has a width of {1}, less than {0}"), x);
    }
  }
  if (mode == PadMode::constant) return pad_with(b, x, before, after, value);
  return pad_from_within(b, x, before, after, mode);
}

}  // namespace inlay
