#include "ir/compose_diagonal.h"

#include "ir/compose_fill.h"
#include "ir/compose_reduce.h"
#include "ir/compose_shape.h"

namespace inlay {
namespace {

/// Where a diagonal of [rows, columns] begins, and its length.
struct Run {
  Dim row, column, length;

  Run(const Dim& rows, const Dim& columns, int64_t offset)
      : row(min(std::max<int64_t>(-offset, 0), rows)), column(min(std::max<int64_t>(offset, 0), columns)) {
    length = rows == columns ? rows - row - column : min(rows - row, columns - column);
  }
  IndexItem row_range() const { return IndexItem::range(row, row + length); }
  IndexItem column_range() const { return IndexItem::range(column, column + length); }
};

void require_rank(const GraphBuilder& b, ValueId x, int minimum, const char* op) {
  if (b.type(x).rank() >= minimum) return;
  throw b.error(ErrorCode::wrong_rank, str(op, ": of rank ", b.type(x).rank(), ", not ", minimum, " or more"))
      .note("operand", b.graph().describe(x));
}

/// bool[n, n]: row = column.
ValueId on_diagonal(GraphBuilder& b, const Dim& length) { return eye(b, length, length, 0, DType::boolean); }

/// v [..., n] with an axis before the last: its element stands in every row.
ValueId in_every_row(GraphBuilder& b, ValueId v) { return b.type(v).rank() == 0 ? v : expand_dims(b, v, {-2}); }

/// All of the leading axes of x, and then these two ranges.
std::vector<IndexItem> square(const GraphBuilder& b, ValueId x, const Run& run) {
  std::vector<IndexItem> index;
  for (int axis = 0; axis + 2 < b.type(x).rank(); ++axis) index.push_back(IndexItem::range(0, b.type(x).dims[axis]));
  index.push_back(run.row_range());
  index.push_back(run.column_range());
  return index;
}

}  // namespace

ValueId extract_diagonal(GraphBuilder& b, ValueId x, int64_t offset, int64_t first, int64_t second) {
  require_rank(b, x, 2, "extract_diag");
  const int rows = axis_of(b, x, first, "extract_diag"), columns = axis_of(b, x, second, "extract_diag");
  const std::vector<Dim> dims = b.type(x).dims;
  const Run run(dims[rows], dims[columns], offset);
  std::vector<IndexItem> index = whole(dims);
  index[rows] = run.row_range();
  index[columns] = run.column_range();
  return b.diagonal(b.slice(x, std::move(index)), rows, columns);
}

ValueId trace(GraphBuilder& b, ValueId x, int64_t offset, int64_t first, int64_t second) {
  return sum(b, extract_diagonal(b, x, offset, first, second), {-1});
}

ValueId alloc_diagonal(GraphBuilder& b, ValueId v, int64_t offset, int64_t first, int64_t second) {
  require_rank(b, v, 1, "alloc_diag");
  const DType dtype = b.type(v).dtype;
  const Dim length = b.type(v).dims.back(), size = length + std::abs(offset);
  std::vector<Dim> dims(b.type(v).dims.begin(), b.type(v).dims.end() - 1);
  dims.insert(dims.end(), {size, size});
  ValueId out = b.scalar(ScalarOp::select_, {on_diagonal(b, length), in_every_row(b, v), constant(b, dtype, 0)});
  if (offset != 0) {
    const ValueId zeros = b.broadcast(constant(b, dtype, 0), std::move(dims));
    const Dim row = std::max<int64_t>(-offset, 0), column = std::max<int64_t>(offset, 0);
    std::vector<IndexItem> index;
    for (int axis = 0; axis + 2 < b.type(zeros).rank(); ++axis) {
      index.push_back(IndexItem::range(0, b.type(zeros).dims[axis]));
    }
    index.push_back(IndexItem::range(row, row + length));
    index.push_back(IndexItem::range(column, column + length));
    out = b.update(Combine::set, zeros, std::move(index), out);
  }
  const int rows = axis_of(b, out, first, "alloc_diag"), columns = axis_of(b, out, second, "alloc_diag");
  if (rows == columns) {
    throw b.error(ErrorCode::axis_out_of_range, str("alloc_diag: axis ", rows, " is named twice"))
        .note("operand", b.graph().describe(v));
  }
  std::vector<int> order(b.type(out).rank(), -1);
  order[rows] = b.type(out).rank() - 2;
  order[columns] = b.type(out).rank() - 1;
  int next = 0;
  for (int& axis : order) {
    if (axis < 0) axis = next++;
  }
  return b.transpose(out, std::move(order));
}

ValueId set_diagonal(GraphBuilder& b, ValueId x, ValueId v, int64_t offset) {
  require_rank(b, x, 2, "set_diag");
  const std::vector<Dim> dims = b.type(x).dims;
  const Run run(dims[dims.size() - 2], dims.back(), offset);
  const std::vector<IndexItem> index = square(b, x, run);
  const ValueId before = b.slice(x, index);
  return b.update(Combine::set, x, index,
                  b.scalar(ScalarOp::select_, {on_diagonal(b, run.length), in_every_row(b, v), before}));
}

ValueId fill_diagonal(GraphBuilder& b, ValueId x, ValueId value, Wrap wrap) {
  require_rank(b, x, 2, "fill_diagonal");
  if (b.type(value).rank() != 0) {
    throw b.error(ErrorCode::wrong_rank, str("fill_diagonal: a value of rank ", b.type(value).rank(), ", not 0"))
        .note("value", b.graph().describe(value));
  }
  const std::vector<Dim> dims = b.type(x).dims;
  const int rank = b.type(x).rank();
  if (rank == 2) {
    ValueId row = places(b, dims[0], 1);
    if (wrap == Wrap::yes) row = b.scalar(ScalarOp::mod_, {row, b.size(dims[1] + 1)});
    return b.scalar(ScalarOp::select_, {b.scalar(ScalarOp::eq_, {row, places(b, dims[1], 0)}), value, x});
  }
  ValueId on;
  for (int axis = 1; axis < rank; ++axis) {
    b.require(DimCheck::Relation::equal, dims[axis], dims[0], ErrorCode::shape_mismatch,
              str("fill_diagonal: axis ", axis, " has {0} elements, axis 0 {1}"), x);
    const ValueId next =
        b.scalar(ScalarOp::eq_, {places(b, dims[0], rank - 1), places(b, dims[axis], rank - 1 - axis)});
    on = axis == 1 ? next : b.scalar(ScalarOp::and_, {on, next});
  }
  return b.scalar(ScalarOp::select_, {on, value, x});
}

}  // namespace inlay
