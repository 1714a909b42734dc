#include "ir/compose_sort.h"

#include "ir/compose_fill.h"
#include "ir/compose_shape.h"

namespace inlay {
namespace {

std::vector<IndexItem> all_but_last(const GraphBuilder& b, ValueId x, IndexItem last) {
  std::vector<IndexItem> index = whole(b.type(x).dims);
  index.back() = last;
  return index;
}

ValueId take_along_last(GraphBuilder& b, ValueId x, ValueId places_in_rows) {
  return take_at(b, x, places_in_rows, b.type(x).rank() - 1);
}

/// The places of the largest `count` along the last axis. A stable ascending sort of the flipped rows, read from its
/// end, leaves equals by place.
ValueId places_of_largest(GraphBuilder& b, ValueId x, const Dim& count) {
  const Dim n = b.type(x).dims.back();
  const int last = b.type(x).rank() - 1;
  const ValueId order = b.library(LibraryOp::argsort, {b.flip(x, {last})})[0];
  const ValueId from_end = b.flip(b.slice(order, all_but_last(b, order, IndexItem::range(n - count, n))), {last});
  return b.scalar(ScalarOp::sub_, {b.size(n - 1), from_end});
}

ValueId places_of_smallest(GraphBuilder& b, ValueId x, const Dim& count) {
  const ValueId order = b.library(LibraryOp::argsort, {x})[0];
  return b.slice(order, all_but_last(b, order, IndexItem::range(0, count)));
}

}  // namespace

ValueId take_at(GraphBuilder& b, ValueId x, ValueId places_there, int axis) {
  std::vector<IndexItem> index;
  for (int before = 0; before < axis; ++before) {
    index.push_back(IndexItem::through(places(b, Dim(b.type(x).dims[before]), axis - before)));
  }
  index.push_back(IndexItem::through(places_there));
  return b.gather(x, std::move(index));
}

ValueId take_along_axis(GraphBuilder& b, ValueId x, ValueId places_there, int64_t axis) {
  const int along = axis_of(b, x, axis, "take_along_axis");
  const std::vector<Dim> dims = b.type(x).dims, wanted = b.type(places_there).dims;
  const auto wrong = [&](ErrorCode code, const std::string& what) {
    return b.error(code, str("take_along_axis: places of ", what))
        .note("operand", b.graph().describe(x))
        .note("places", b.graph().describe(places_there));
  };
  if (wanted.size() != dims.size()) {
    throw wrong(ErrorCode::wrong_rank, str("rank ", wanted.size(), " in a rank ", dims.size(), " value"));
  }
  const DType dtype = b.type(places_there).dtype;
  if (!is_integer(dtype)) throw wrong(ErrorCode::wrong_dtype, str(dtype_name(dtype), ", not of integers"));
  // Every axis is read through an index array, so that an error names x, the places and the axis as they were given.
  std::vector<IndexItem> index;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    const bool stretches = dims[i].is(1) || wanted[i].is(1);
    if (i != along && !stretches) {
      b.require(DimCheck::Relation::equal, dims[i], wanted[i], ErrorCode::shape_mismatch,
                str("take_along_axis: axis ", i, " has {0} elements in ", b.graph().value_text(x), " and {1} in ",
                    b.graph().value_text(places_there)),
                x);
    }
    const int behind = static_cast<int>(dims.size()) - 1 - i;
    index.push_back(IndexItem::through(i == along ? places_there : places(b, dims[i], behind)));
  }
  return b.gather(x, std::move(index), "take_along_axis");
}

ValuesAndPlaces top_k(GraphBuilder& b, ValueId x, const Dim& count, int64_t axis, Extreme extreme) {
  const int along = axis_of(b, x, axis, "top_k");
  const Dim dim = b.type(x).dims[along];
  b.require(DimCheck::Relation::at_most, count, dim, ErrorCode::slice_out_of_range,
            str("top_k: {0} of axis ", along, ", which has {1} elements"), x);
  b.require(DimCheck::Relation::at_most, 0, count, ErrorCode::slice_out_of_range, "top_k: {1} elements, less than {0}",
            x);
  const ValueId rows = move_axis(b, x, along, -1);
  const ValueId found =
      extreme == Extreme::largest ? places_of_largest(b, rows, count) : places_of_smallest(b, rows, count);
  return {move_axis(b, take_along_last(b, rows, found), -1, along), move_axis(b, found, -1, along)};
}

}  // namespace inlay
