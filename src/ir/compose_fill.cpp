#include "ir/compose_fill.h"

namespace inlay {
namespace {

void require_matrix(const GraphBuilder& b, ValueId x, const char* op) {
  if (b.type(x).rank() >= 2) return;
  throw b.error(ErrorCode::wrong_rank, str(op, ": of rank ", b.type(x).rank(), "; a matrix has 2 axes"))
      .note("operand", b.graph().describe(x));
}

/// tri over the last two axes of x.
ValueId tri_of(GraphBuilder& b, ValueId x, const Dim& offset) {
  const std::vector<Dim> dims = b.type(x).dims;
  return tri(b, dims[dims.size() - 2], dims.back(), offset);
}

ValueId shifted_rows(GraphBuilder& b, const Dim& rows, const Dim& offset) {
  const ValueId row = places(b, rows, 1);
  return offset.is(0) ? row : b.scalar(ScalarOp::add_, {row, b.size(offset)});
}

}  // namespace

std::vector<ValueId> promoted(GraphBuilder& b, std::vector<ValueId> operands) {
  DType common = DType::boolean;
  for (ValueId v : operands) common = promote(common, b.type(v).dtype);
  for (ValueId& v : operands) v = b.cast(v, common);
  return operands;
}

ValueId constant(GraphBuilder& b, DType dtype, double c) { return b.literal(Literal::of(dtype, c)); }

ValueId places(GraphBuilder& b, const Dim& length, int behind) {
  std::vector<Dim> dims(static_cast<std::size_t>(behind) + 1, Dim(1));
  dims[0] = length;
  return b.reshape(b.iota(length, DType::i64), std::move(dims));
}

ValueId as_bool(GraphBuilder& b, ValueId x) {
  const DType dtype = b.type(x).dtype;
  return dtype == DType::boolean ? x : b.scalar(ScalarOp::ne_, {x, constant(b, dtype, 0)});
}

ValueId full(GraphBuilder& b, ValueId value, std::vector<Dim> dims) { return b.broadcast(value, std::move(dims)); }

ValueId tri(GraphBuilder& b, const Dim& rows, const Dim& columns, const Dim& offset) {
  constexpr int64_t kFar = int64_t{1} << 62;  // beyond any row or column, and a row away from what fits
  const bool is_far = offset.is_constant() && (offset.constant() > kFar || offset.constant() < -kFar);
  const ValueId row = shifted_rows(b, rows, is_far ? Dim(offset.constant() > 0 ? kFar : -kFar) : offset);
  return b.broadcast(b.scalar(ScalarOp::ge_, {row, places(b, columns, 0)}), {rows, columns});
}

ValueId eye(GraphBuilder& b, const Dim& rows, const Dim& columns, const Dim& offset, DType dtype) {
  const ValueId row = shifted_rows(b, rows, offset);
  return b.cast(b.broadcast(b.scalar(ScalarOp::eq_, {row, places(b, columns, 0)}), {rows, columns}), dtype);
}

ValueId tril(GraphBuilder& b, ValueId x, const Dim& offset) {
  require_matrix(b, x, "tril");
  return b.scalar(ScalarOp::select_, {tri_of(b, x, offset), x, constant(b, b.type(x).dtype, 0)});
}

ValueId triu(GraphBuilder& b, ValueId x, const Dim& offset) {
  require_matrix(b, x, "triu");
  return b.scalar(ScalarOp::select_, {tri_of(b, x, offset - 1), constant(b, b.type(x).dtype, 0), x});
}

ValueId where(GraphBuilder& b, ValueId condition, ValueId yes, ValueId no) {
  return b.scalar(ScalarOp::select_, {as_bool(b, condition), yes, no});
}

}  // namespace inlay
