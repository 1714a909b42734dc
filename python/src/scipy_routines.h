#pragma once
// BLAS and LAPACK from SciPy, which has them for Cython: scipy.linalg.cython_blas and cython_lapack.

namespace inlay::python {

/// From now on the library asks SciPy for them, where none is linked.
void take_routines_from_scipy();

}  // namespace inlay::python
