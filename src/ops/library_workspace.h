#pragma once
// How many bytes of scratch memory a library function wants: one expression, for sizes that are expressions (the
// planner's) and for sizes that are numbers (the functions' own).
#include <algorithm>
#include <cstdint>

#include "ops/library_op.h"

namespace inlay {

/// LAPACK's factorizations by blocks ask for this many columns of scratch.
inline constexpr int64_t kLapackBlock = 64;

/// LAPACK's `lwork` of an orthogonal factor.
template <class Size>
Size qr_work_elements(bool pivots, const Size& m, const Size& n) {
  using std::max;
  const Size blocks = max(m, n) * Size(kLapackBlock) + Size(1);
  return pivots ? blocks + n * Size(3) + Size(kLapackBlock) : blocks;
}

/// LAPACK's `lwork` of a singular value decomposition.
template <class Size>
Size svd_work_elements(bool vectors, const Size& m, const Size& n) {
  using std::max;
  using std::min;
  const Size minimum = min(m, n), maximum = max(m, n);
  const Size blocks = (m + n) * Size(kLapackBlock) + maximum + minimum * Size(7) + Size(1);
  return vectors ? minimum * minimum * Size(4) + blocks : blocks + minimum * Size(3);
}

/// Real scratch memory of complex ones.
template <class Size>
Size svd_rwork_elements(const Size& m, const Size& n) {
  using std::max;
  using std::min;
  const Size minimum = min(m, n), maximum = max(m, n);
  return minimum * (maximum * Size(2) + minimum * Size(5) + Size(7)) + Size(1);
}

/// LAPACK's `lwork` of symmetric eigenvalues.
template <class Size>
Size eigh_work_elements(bool vectors, const Size& n) {
  return vectors ? n * n * Size(2) + n * Size(6) + Size(1) : n * Size(2 + kLapackBlock) + Size(1);
}

template <class Size>
Size eigh_rwork_elements(bool vectors, const Size& n) {
  return vectors ? n * n * Size(2) + n * Size(5) + Size(1) : n + Size(1);
}

/// LAPACK's `lwork` of the eigenvalues of any matrix.
template <class Size>
Size eig_work_elements(const Size& n) {
  return n * Size(2 * kLapackBlock + 4) + Size(1);
}

/// Two lists of eigenvalues, and the real work of complex ones.
template <class Size>
Size qz_parts(const Size& n) {
  return n * Size(4 + 8);
}

/// `sizes`: by the letters of the signature; `dtype`: of the operands. LAPACK's integers are counted as 8 bytes, so
/// that whatever follows them stays aligned.
template <class Size>
Size library_workspace_bytes(LibraryOp op, DType dtype, const std::vector<Size>& sizes) {
  using std::max;
  using std::min;
  const auto elements = [&](const Size& count) { return count * Size(size_bytes(dtype)); };
  const auto parts = [&](const Size& count) { return count * Size(size_bytes(real_of(dtype))); };
  const auto of_complex = [&](const Size& count) { return is_complex(dtype) ? parts(count) : Size(0); };
  const auto integers = [](const Size& count) { return count * Size(8); };
  switch (op) {
    case LibraryOp::matmul:
    case LibraryOp::row_dots:
    case LibraryOp::weighted_rows:
    case LibraryOp::cholesky:
    case LibraryOp::solve_triangular:
    case LibraryOp::pivots_to_permutation:
    case LibraryOp::tridiagonal_lu_solve:
    case LibraryOp::sort:
    case LibraryOp::argsort:
    case LibraryOp::searchsorted: return Size(0);
    case LibraryOp::solve: return elements(sizes[0] * sizes[0]) + integers(sizes[0]);
    case LibraryOp::lu_factor: return elements(sizes[0] * sizes[1]) + integers(min(sizes[0], sizes[1]));
    case LibraryOp::tridiagonal_lu_factor: return integers(sizes[0]);
    case LibraryOp::qr:
    case LibraryOp::qr_r:
    case LibraryOp::qr_complete:
    case LibraryOp::qr_pivoted:
    case LibraryOp::qr_complete_pivoted:
    case LibraryOp::qr_raw:
    case LibraryOp::qr_raw_pivoted: {  // the matrix by columns, room for q; tau; work; columns and their lengths
      const Size &m = sizes[0], &n = sizes[1];
      const bool complete = op == LibraryOp::qr_complete || op == LibraryOp::qr_complete_pivoted;
      const bool pivots =
          op == LibraryOp::qr_pivoted || op == LibraryOp::qr_complete_pivoted || op == LibraryOp::qr_raw_pivoted;
      const Size matrix = m * (complete ? max(m, n) : n) + min(m, n) + qr_work_elements(pivots, m, n);
      return pivots ? elements(matrix) + integers(n) + parts(n * Size(2)) : elements(matrix);
    }
    case LibraryOp::expm: return elements(sizes[0] * sizes[0] * Size(6)) + integers(sizes[0]);
    case LibraryOp::svd:
    case LibraryOp::svd_full:
    case LibraryOp::singular_values: {  // the matrix; work; integers
      const Size &m = sizes[0], &n = sizes[1];
      const Size work = svd_work_elements(op != LibraryOp::singular_values, m, n);
      return elements(m * n + work) + integers(min(m, n) * Size(8) + Size(1)) + of_complex(svd_rwork_elements(m, n));
    }
    case LibraryOp::eigh:
      return elements(eigh_work_elements(true, sizes[0])) + integers(sizes[0] * Size(5) + Size(3)) +
             of_complex(eigh_rwork_elements(true, sizes[0]));
    case LibraryOp::eigvalsh:
      return elements(sizes[0] * sizes[0] + eigh_work_elements(false, sizes[0])) + integers(Size(1)) +
             of_complex(eigh_rwork_elements(false, sizes[0]));
    case LibraryOp::eig:
      return elements(sizes[0] * sizes[0] * Size(2) + eig_work_elements(sizes[0])) + parts(sizes[0] * Size(2));
    case LibraryOp::schur:  // both factors by columns; work; the eigenvalues; real work; which of them are chosen
      return elements(sizes[0] * sizes[0] * Size(2) + eig_work_elements(sizes[0])) + parts(sizes[0] * Size(3)) +
             integers(sizes[0]);
    case LibraryOp::qz:  // two matrices and two factors by columns; work; the eigenvalues; which of them are chosen
      return elements(sizes[0] * sizes[0] * Size(4) + eig_work_elements(sizes[0])) + parts(qz_parts(sizes[0])) +
             integers(sizes[0] + Size(1));
    case LibraryOp::sylvester: return elements(sizes[0] * sizes[0] + sizes[1] * sizes[1] + sizes[0] * sizes[1]);
    case LibraryOp::eigvals:
      return elements(sizes[0] * sizes[0] + eig_work_elements(sizes[0])) + parts(sizes[0] * Size(2));
  }
  return Size(0);
}

}  // namespace inlay
