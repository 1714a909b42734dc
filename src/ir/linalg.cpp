#include "ir/linalg.h"

#include <algorithm>

namespace inlay::linalg {
namespace {

const Dim& last_dim(const GraphBuilder& b, ValueId a, int from_last = 1) {
  const std::vector<Dim>& dims = b.type(a).dims;
  return dims[dims.size() - static_cast<std::size_t>(from_last)];
}

ValueId one_of(GraphBuilder& b, DType dtype, double value) { return b.literal(Literal::of(dtype, value)); }

/// 0, 1, ..., along an axis that stands `from_last`.
ValueId counted(GraphBuilder& b, const Dim& n, int from_last = 1) {
  const ValueId i = b.iota(n, DType::i64);
  if (from_last == 1) return i;
  std::vector<Dim> dims(static_cast<std::size_t>(from_last), Dim(1));
  dims[0] = n;
  return b.reshape(i, std::move(dims));
}

void require_matrix(GraphBuilder& b, ValueId a, const char* op) {
  if (b.type(a).rank() >= 2) return;
  throw b.error(ErrorCode::wrong_rank, str(op, ": of rank ", b.type(a).rank())).note("operand", b.graph().describe(a));
}

/// a with another axis of length 1 at the end.
ValueId as_column(GraphBuilder& b, ValueId a) {
  std::vector<Dim> dims = b.type(a).dims;
  dims.emplace_back(1);
  return b.reshape(a, std::move(dims));
}

/// Where the row number plus k and the column number of the last two axes compare so, a; else 0.
ValueId triangle(GraphBuilder& b, ValueId a, ScalarOp compare, int64_t k) {
  require_matrix(b, a, "triangle");
  ValueId row = counted(b, last_dim(b, a, 2), 2);
  if (k != 0) row = b.scalar(ScalarOp::add_, {row, b.literal(Literal::of_integer(DType::i64, k))});
  const ValueId inside = b.scalar(compare, {row, counted(b, last_dim(b, a))});
  return b.scalar(ScalarOp::select_, {inside, a, one_of(b, b.type(a).dtype, 0)});
}

LibraryOptions only(LibraryOption option) { return static_cast<LibraryOptions>(option); }

/// The diagonal of u, and 1 or -1 for an even or odd number of swaps of rows.
struct Pivots {
  ValueId diagonal, sign;
};
Pivots eliminate(GraphBuilder& b, ValueId a) {
  const std::vector<ValueId> parts = b.library(LibraryOp::lu_factor, {a});
  const DType dtype = b.type(a).dtype;
  const ValueId swapped = b.scalar(ScalarOp::ne_, {parts[1], counted(b, last_dim(b, parts[1]))});
  const ValueId signs = b.scalar(ScalarOp::select_, {swapped, one_of(b, dtype, -1), one_of(b, dtype, 1)});
  return {diagonal(b, parts[0]), b.reduce(Combine::mul, signs, {b.type(signs).rank() - 1}, dtype)};
}

/// A determinant is that of a square matrix; a factorization has no such need.
ValueId square(GraphBuilder& b, ValueId a, const char* op) {
  require_matrix(b, a, op);
  std::vector<Dim> dims = b.type(a).dims;
  dims.back() = dims[dims.size() - 2];
  return b.broadcast(a, std::move(dims));
}

}  // namespace

ValueId identity(GraphBuilder& b, const Dim& n, DType dtype) {
  return b.cast(b.scalar(ScalarOp::eq_, {counted(b, n), counted(b, n, 2)}), dtype);
}

ValueId swapped(GraphBuilder& b, ValueId a) {
  require_matrix(b, a, "transpose");
  std::vector<int> axes(b.type(a).dims.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return b.transpose(a, std::move(axes));
}

ValueId adjoint(GraphBuilder& b, ValueId a) {
  if (is_complex(b.type(a).dtype)) a = b.scalar(ScalarOp::conj_, {a});
  return swapped(b, a);
}

ValueId diagonal(GraphBuilder& b, ValueId a) {
  require_matrix(b, a, "diagonal");
  const std::vector<Dim> dims = b.type(a).dims;
  std::vector<IndexItem> index;
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) index.push_back(IndexItem::range(0, dims[i]));
  const ValueId i = counted(b, min(dims[dims.size() - 2], dims.back()));
  index.push_back(IndexItem::through(i));
  index.push_back(IndexItem::through(i));
  return b.gather(a, std::move(index));
}

ValueId lower_triangle(GraphBuilder& b, ValueId a, int64_t k) { return triangle(b, a, ScalarOp::ge_, k); }
ValueId upper_triangle(GraphBuilder& b, ValueId a, int64_t k) { return triangle(b, a, ScalarOp::le_, k); }

ValueId take_rows(GraphBuilder& b, ValueId a, ValueId rows) {
  const std::vector<Dim> dims = b.type(a).dims;
  std::vector<IndexItem> index;
  for (std::size_t axis = 0; axis + 2 < dims.size(); ++axis) {
    index.push_back(IndexItem::through(counted(b, dims[axis], static_cast<int>(dims.size() - 1 - axis))));
  }
  index.push_back(IndexItem::through(rows));
  return b.gather(a, std::move(index));
}

ValueId inverse(GraphBuilder& b, ValueId a) {
  require_matrix(b, a, "inverse");
  return b.library(LibraryOp::solve, {a, identity(b, last_dim(b, a), b.type(a).dtype)})[0];
}

ValueId determinant(GraphBuilder& b, ValueId a) {
  a = square(b, a, "determinant");
  const Pivots pivots = eliminate(b, a);
  const DType dtype = b.type(a).dtype;
  const ValueId product = b.reduce(Combine::mul, pivots.diagonal, {b.type(pivots.diagonal).rank() - 1}, dtype);
  return b.scalar(ScalarOp::mul_, {product, pivots.sign});
}

SignAndLog log_determinant(GraphBuilder& b, ValueId a) {
  a = square(b, a, "log_determinant");
  const Pivots pivots = eliminate(b, a);
  const DType dtype = b.type(a).dtype;
  const std::vector<int> last = {b.type(pivots.diagonal).rank() - 1};
  const ValueId signs = b.reduce(Combine::mul, b.scalar(ScalarOp::sign_, {pivots.diagonal}), last, dtype);
  const ValueId logs = b.scalar(ScalarOp::log_, {b.scalar(ScalarOp::abs_, {pivots.diagonal})});
  return {b.scalar(ScalarOp::mul_, {signs, pivots.sign}), b.reduce(Combine::add, logs, last, real_of(dtype))};
}

PLU lu(GraphBuilder& b, ValueId a) {
  a = square(b, a, "lu");
  const std::vector<ValueId> parts = b.library(LibraryOp::lu_factor, {a});
  const ValueId rows = b.library(LibraryOp::pivots_to_permutation, {parts[1]})[0];
  const ValueId ones = identity(b, last_dim(b, a), b.type(a).dtype);
  return {b.library(LibraryOp::argsort, {rows})[0], b.scalar(ScalarOp::add_, {lower_triangle(b, parts[0], -1), ones}),
          upper_triangle(b, parts[0])};
}

ValueId permutation_matrix(GraphBuilder& b, ValueId p, DType dtype) {
  return b.cast(b.scalar(ScalarOp::eq_, {as_column(b, p), counted(b, last_dim(b, p))}), dtype);
}

ValueId cholesky_solve(GraphBuilder& b, ValueId c, ValueId y, LibraryOptions options) {
  const LibraryOptions first = has(options, LibraryOption::upper) ? options | LibraryOption::adjoint : options;
  const LibraryOptions second = has(options, LibraryOption::upper) ? options : options | LibraryOption::adjoint;
  return b.library(LibraryOp::solve_triangular, {c, b.library(LibraryOp::solve_triangular, {c, y}, first)[0]},
                   second)[0];
}

ValueId lu_solve(GraphBuilder& b, ValueId lu, ValueId pivots, ValueId y) {
  const ValueId rows = b.library(LibraryOp::pivots_to_permutation, {pivots})[0];
  const ValueId z =
      b.library(LibraryOp::solve_triangular, {lu, take_rows(b, y, rows)}, only(LibraryOption::unit_diagonal))[0];
  return b.library(LibraryOp::solve_triangular, {lu, z}, only(LibraryOption::upper))[0];
}

ValueId pseudo_inverse(GraphBuilder& b, ValueId a) {
  const std::vector<ValueId> parts = b.library(LibraryOp::svd, {a});
  const ValueId s = parts[1];
  const DType dtype = b.type(s).dtype;
  const ValueId zero = one_of(b, dtype, 0);
  // The first is the largest. (As a sum, for there may be none.)
  const ValueId is_first =
      b.scalar(ScalarOp::eq_, {counted(b, last_dim(b, s)), b.literal(Literal::of_integer(DType::i64, 0))});
  const ValueId largest =
      b.reduce(Combine::add, b.scalar(ScalarOp::select_, {is_first, s, zero}), {b.type(s).rank() - 1}, dtype);
  const ValueId cutoff = b.scalar(ScalarOp::mul_, {as_column(b, largest), one_of(b, dtype, 1e-15)});
  const ValueId counts = b.scalar(ScalarOp::gt_, {s, cutoff});
  const ValueId inverted = b.scalar(ScalarOp::select_, {counts, b.scalar(ScalarOp::reciprocal_, {s}), zero});
  const ValueId rows = b.cast(as_column(b, inverted), b.type(a).dtype);
  return b.matmul(adjoint(b, parts[2]), b.scalar(ScalarOp::mul_, {rows, adjoint(b, parts[0])}));
}

}  // namespace inlay::linalg
