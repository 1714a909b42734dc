#include "ir/linalg.h"

#include "ir/compose_diagonal.h"
#include "ir/compose_fill.h"
#include "ir/compose_shape.h"
#include "ir/compose_sort.h"

namespace inlay::linalg {
namespace {

const Dim& last_dim(const GraphBuilder& b, ValueId a) { return b.type(a).dims.back(); }

void require_matrix(GraphBuilder& b, ValueId a, const char* op) {
  if (b.type(a).rank() >= 2) return;
  throw b.error(ErrorCode::wrong_rank, str(op, ": of rank ", b.type(a).rank())).note("operand", b.graph().describe(a));
}

ValueId identity(GraphBuilder& b, const Dim& n, DType dtype) { return eye(b, n, n, 0, dtype); }

LibraryOptions only(LibraryOption option) { return static_cast<LibraryOptions>(option); }

/// The diagonal of u, and 1 or -1 for an even or odd number of swaps of rows.
struct Pivots {
  ValueId diagonal, sign;
};
Pivots eliminate(GraphBuilder& b, ValueId a) {
  const std::vector<ValueId> parts = b.library(LibraryOp::lu_factor, {a});
  const DType dtype = b.type(a).dtype;
  const ValueId swapped = b.scalar(ScalarOp::ne_, {parts[1], places(b, last_dim(b, parts[1]), 0)});
  const ValueId signs = b.scalar(ScalarOp::select_, {swapped, constant(b, dtype, -1), constant(b, dtype, 1)});
  return {extract_diagonal(b, parts[0], 0, -2, -1), b.reduce(Fold::mul, signs, {b.type(signs).rank() - 1}, dtype)};
}

/// A determinant is that of a square matrix; a factorization has no such need.
ValueId square(GraphBuilder& b, ValueId a, const char* op) {
  require_matrix(b, a, op);
  std::vector<Dim> dims = b.type(a).dims;
  dims.back() = dims[dims.size() - 2];
  return b.broadcast(a, std::move(dims));
}

}  // namespace

ValueId swapped(GraphBuilder& b, ValueId a) {
  require_matrix(b, a, "transpose");
  return swap_axes(b, a, -2, -1);
}

ValueId adjoint(GraphBuilder& b, ValueId a) {
  if (is_complex(b.type(a).dtype)) a = b.scalar(ScalarOp::conj_, {a});
  return swapped(b, a);
}

ValueId take_rows(GraphBuilder& b, ValueId a, ValueId rows) { return take_at(b, a, rows, b.type(a).rank() - 2); }

ValueId inverse(GraphBuilder& b, ValueId a) {
  require_matrix(b, a, "inverse");
  return b.library(LibraryOp::solve, {a, identity(b, last_dim(b, a), b.type(a).dtype)})[0];
}

ValueId determinant(GraphBuilder& b, ValueId a) {
  a = square(b, a, "determinant");
  const Pivots pivots = eliminate(b, a);
  const DType dtype = b.type(a).dtype;
  const ValueId product = b.reduce(Fold::mul, pivots.diagonal, {b.type(pivots.diagonal).rank() - 1}, dtype);
  return b.scalar(ScalarOp::mul_, {product, pivots.sign});
}

SignAndLog log_determinant(GraphBuilder& b, ValueId a) {
  a = square(b, a, "log_determinant");
  const Pivots pivots = eliminate(b, a);
  const DType dtype = b.type(a).dtype;
  const std::vector<int> last = {b.type(pivots.diagonal).rank() - 1};
  const ValueId signs = b.reduce(Fold::mul, b.scalar(ScalarOp::sign_, {pivots.diagonal}), last, dtype);
  const ValueId logs = b.scalar(ScalarOp::log_, {b.scalar(ScalarOp::abs_, {pivots.diagonal})});
  return {b.scalar(ScalarOp::mul_, {signs, pivots.sign}), b.reduce(Fold::add, logs, last, real_of(dtype))};
}

PLU lu(GraphBuilder& b, ValueId a) {
  a = square(b, a, "lu");
  const std::vector<ValueId> parts = b.library(LibraryOp::lu_factor, {a});
  const ValueId rows = b.library(LibraryOp::pivots_to_permutation, {parts[1]})[0];
  const ValueId ones = identity(b, last_dim(b, a), b.type(a).dtype);
  return {b.library(LibraryOp::argsort, {rows})[0], b.scalar(ScalarOp::add_, {tril(b, parts[0], -1), ones}),
          triu(b, parts[0], 0)};
}

ValueId permutation_matrix(GraphBuilder& b, ValueId p, DType dtype) {
  return b.cast(b.scalar(ScalarOp::eq_, {expand_dims(b, p, {-1}), places(b, last_dim(b, p), 0)}), dtype);
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
  const ValueId zero = constant(b, dtype, 0);
  // The first is the largest. (As a sum, for there may be none.)
  const ValueId is_first = b.scalar(ScalarOp::eq_, {places(b, last_dim(b, s), 0), constant(b, DType::i64, 0)});
  const ValueId largest =
      b.reduce(Fold::add, b.scalar(ScalarOp::select_, {is_first, s, zero}), {b.type(s).rank() - 1}, dtype);
  const ValueId cutoff = b.scalar(ScalarOp::mul_, {expand_dims(b, largest, {-1}), constant(b, dtype, 1e-15)});
  const ValueId counts = b.scalar(ScalarOp::gt_, {s, cutoff});
  const ValueId inverted = b.scalar(ScalarOp::select_, {counts, b.scalar(ScalarOp::reciprocal_, {s}), zero});
  const ValueId rows = b.cast(expand_dims(b, inverted, {-1}), b.type(a).dtype);
  return matmul(b, adjoint(b, parts[2]), b.scalar(ScalarOp::mul_, {rows, adjoint(b, parts[0])}));
}

}  // namespace inlay::linalg
