#pragma once
// How many bytes of scratch memory a library function wants: one expression, for sizes that are expressions (the
// planner's) and for sizes that are numbers (the functions' own).
#include <algorithm>
#include <cstdint>

#include "ops/library_op.h"

namespace inlay {

/// LAPACK's factorizations by blocks ask for this many columns of scratch.
inline constexpr int64_t kLapackBlock = 64;

/// LAPACK's `lwork` of a singular value decomposition.
template <class Size>
Size svd_work_elements(bool vectors, const Size& m, const Size& n) {
  using std::max;
  using std::min;
  const Size least = min(m, n), greatest = max(m, n);
  const Size blocks = (m + n) * Size(kLapackBlock) + greatest + least * Size(7) + Size(1);
  return vectors ? least * least * Size(4) + blocks : blocks + least * Size(3);
}

/// LAPACK's `lwork` of symmetric eigenvalues.
template <class Size>
Size eigh_work_elements(bool vectors, const Size& n) {
  return vectors ? n * n * Size(2) + n * Size(6) + Size(1) : n * Size(2 + kLapackBlock) + Size(1);
}

/// `sizes`: by the letters of the signature; `element_bytes`: of an operand's element. LAPACK's integers are counted as
/// 8 bytes, so that whatever follows them stays aligned.
template <class Size>
Size library_workspace_bytes(LibraryOp op, int64_t element_bytes, const std::vector<Size>& sizes) {
  using std::max;
  using std::min;
  const auto elements = [&](const Size& count) { return count * Size(element_bytes); };
  const auto integers = [](const Size& count) { return count * Size(8); };
  switch (op) {
    case LibraryOp::matmul:
    case LibraryOp::cholesky:
    case LibraryOp::solve_triangular:
    case LibraryOp::pivots_to_permutation:
    case LibraryOp::sort:
    case LibraryOp::argsort:
    case LibraryOp::searchsorted: return Size(0);
    case LibraryOp::solve: return elements(sizes[0] * sizes[0]) + integers(sizes[0]);
    case LibraryOp::lu_factor: return elements(sizes[0] * sizes[1]) + integers(min(sizes[0], sizes[1]));
    case LibraryOp::qr:
    case LibraryOp::qr_r:
    case LibraryOp::qr_complete: {  // the matrix by columns, room for q; tau; work
      const Size &m = sizes[0], &n = sizes[1];
      const Size columns = op == LibraryOp::qr_complete ? max(m, n) : n;
      return elements(m * columns + min(m, n) + max(m, n) * Size(kLapackBlock) + Size(1));
    }
    case LibraryOp::expm: return elements(sizes[0] * sizes[0] * Size(6)) + integers(sizes[0]);
    case LibraryOp::svd:
    case LibraryOp::svd_full:
    case LibraryOp::singular_values: {  // the matrix; work; integers
      const Size &m = sizes[0], &n = sizes[1];
      const Size work = svd_work_elements(op != LibraryOp::singular_values, m, n);
      return elements(m * n + work) + integers(min(m, n) * Size(8) + Size(1));
    }
    case LibraryOp::eigh: return elements(eigh_work_elements(true, sizes[0])) + integers(sizes[0] * Size(5) + Size(3));
    case LibraryOp::eigvalsh:
      return elements(sizes[0] * sizes[0] + eigh_work_elements(false, sizes[0])) + integers(Size(1));
  }
  return Size(0);
}

}  // namespace inlay
