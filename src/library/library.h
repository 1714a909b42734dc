#pragma once
// The functions behind library ops: BLAS, LAPACK and sorting, for a batch of matrices or rows at a time.
//
// Machine code calls them by name, `inlay_l_cholesky_f64`, all with one signature. They use operands and results in
// place, with any strides that the op's row allows (LibraryLayout). For LAPACK, which is column-major, a row-major
// matrix is its transpose, so a lower triangle is an upper one. They allocate nothing: scratch memory comes with the
// call (ops/library_workspace.h). They run in the calling thread, and any number of threads may call them at once.
// Without a BLAS, loops replace all of that (by_the_book.cpp); they allocate, and do not use the scratch memory.
#include <cstdint>
#include <string_view>

#include "inlay/runtime.h"

extern "C" {
/// `operands`, `results`: the address of the first element of each; their strides, in elements, are those of the batch
/// and of the core axes (ops/library_strides.h). No two overlap, except that a result may be in the bytes of an operand
/// with the same layout; other operands are not changed. `sizes`: of the batch, then by the letters of the op's
/// signature. `options`: inlay::LibraryOptions. `workspace`: aligned for any element. Between matrices the function
/// looks at the flag `stop` (null: it is never interrupted) and, if that is not 0, asks `call` whether to end. Returns
/// 0, INLAY_INTERRUPTED, or a kernel::LibraryStatus; for `failed`, failure[0] is what was found and failure[1] in which
/// matrix.
typedef int32_t (*InlayLibraryFunction)(const void* const* operands, const int64_t* operand_strides,
                                        void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                        uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                        const int32_t* stop);
}

namespace inlay::library {

/// Returns the function with this name, or null. If it calls BLAS or LAPACK and these are not available, returns the
/// one without. Throws Error(unsupported) if those that are available do not fit.
InlayLibraryFunction find_function(std::string_view name);
/// Returns the function that calls no BLAS and no LAPACK, whatever is available.
InlayLibraryFunction find_function_without_blas(std::string_view name);

}  // namespace inlay::library
