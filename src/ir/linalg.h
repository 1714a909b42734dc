#pragma once
// Linear algebra that is made of other ops: what numpy.linalg and SciPy offer beyond the library ops.
//
// Each works on the last two axes (or the last), for each point of those before. dtypes: f32, f64, c64, c128.
#include "ir/builder.h"

namespace inlay::linalg {

/// numpy.matmul. Floats and complex numbers as a library op, integers and bools as products and a sum.
ValueId matmul(GraphBuilder& b, ValueId x, ValueId y);

/// The last two axes, swapped.
ValueId swapped(GraphBuilder& b, ValueId a);
/// The same, and the conjugate: of real numbers the transpose.
ValueId adjoint(GraphBuilder& b, ValueId a);
/// result[..., i, :] = a[..., rows[..., i], :]: numpy.take_along_axis of whole rows.
ValueId take_rows(GraphBuilder& b, ValueId a, ValueId rows);

/// numpy.linalg.inv. Errors: factorization-failed where a is singular.
ValueId inverse(GraphBuilder& b, ValueId a);
/// numpy.linalg.det. Of a singular matrix 0, of an empty one 1.
ValueId determinant(GraphBuilder& b, ValueId a);
/// numpy.linalg.slogdet. Of a singular matrix 0 and -inf.
struct SignAndLog {
  ValueId sign, log;
};
SignAndLog log_determinant(GraphBuilder& b, ValueId a);
/// a = l[p] @ u: scipy.linalg.lu with p_indices, of a square matrix.
struct PLU {
  ValueId p, l, u;
};
PLU lu(GraphBuilder& b, ValueId a);
/// The matrix with p_matrix @ x = x[p].
ValueId permutation_matrix(GraphBuilder& b, ValueId p, DType dtype);
/// x of (c @ c.conj().T) @ x = y, or with `options` upper (c.conj().T @ c) @ x = y: scipy.linalg.cho_solve.
ValueId cholesky_solve(GraphBuilder& b, ValueId c, ValueId y, LibraryOptions options);
/// x of a @ x = y by the factors that lu_factor gave: scipy.linalg.lu_solve.
ValueId lu_solve(GraphBuilder& b, ValueId lu, ValueId pivots, ValueId y);
/// numpy.linalg.pinv: singular values up to 1e-15 of the largest one count as 0.
ValueId pseudo_inverse(GraphBuilder& b, ValueId a);

/// numpy.einsum. Letters, commas and, where it is written, `->`; no ellipsis. From left to right: each step is one
/// matmul, with axes that nobody else wants summed before. Errors: syntax, wrong-arity, wrong-rank, shape-mismatch.
ValueId einsum(GraphBuilder& b, std::string_view subscripts, std::vector<ValueId> operands);

}  // namespace inlay::linalg
