#pragma once
// The functions behind library ops: BLAS, LAPACK and sorting, for a batch of matrices or rows at a time.
//
// Machine code calls them by name, `inlay_l_cholesky_f64`, all with one signature. Matrices are row-major, and stay
// where they are: to LAPACK, which counts by columns, a row-major matrix is its transpose, so a lower triangle is an
// upper one. They allocate nothing: scratch memory comes with the call (ops/library_workspace.h). They run in the
// calling thread, and any number of threads may call them at once.
#include <cstdint>
#include <string_view>

extern "C" {
/// `operands`, `results`: where each begins; none overlaps another, operands are not changed. `sizes`: of the batch,
/// then by the letters of the op's signature. `options`: inlay::LibraryOptions. `workspace`: aligned for any element.
/// Returns 0, or a kernel::LibraryStatus; for `failed`, failure[0] is what was found and failure[1] in which matrix.
typedef int32_t (*InlayLibraryFunction)(const void* const* operands, void* const* results, const int64_t* sizes,
                                        uint32_t options, void* workspace, int64_t* failure);
}

namespace inlay::library {

/// The function with this name, or null.
InlayLibraryFunction find_function(std::string_view name);

}  // namespace inlay::library
