#pragma once
// The functions behind library ops: BLAS, LAPACK and sorting, for a batch of matrices or rows at a time.
//
// Machine code calls them by name, `inlay_l_cholesky_f64`, all with one signature. Operands and results stay where they
// are, however they lie, as the op's row allows (LibraryLayout). To LAPACK, which counts by columns, a row-major matrix
// is its transpose, so a lower triangle is an upper one. They allocate nothing: scratch memory comes with the call
// (ops/library_workspace.h). They run in the calling thread, and any number of threads may call them at once. Where no
// BLAS is to be had, loops stand in for all of that (by_the_book.cpp), which allocate, and leave the scratch memory
// alone.
#include <cstdint>
#include <string_view>

#include "inlay/runtime.h"

extern "C" {
/// `operands`, `results`: the first element of each; and of each how far it is, in elements, to the next matrix or row
/// of the batch and along the core axes (ops/library_strides.h). None overlaps another, but where a result is made in
/// the bytes of an operand that lies as it does; else operands are not changed. `sizes`: of the batch, then by the
/// letters of the op's signature. `options`: inlay::LibraryOptions. `workspace`: aligned for any element. Between
/// matrices it looks at the number `stop` (null: nobody ends it), and asks `call` what a number other than 0 means.
/// Returns 0, INLAY_INTERRUPTED, or a kernel::LibraryStatus; for `failed`, failure[0] is what was found and failure[1]
/// in which matrix.
typedef int32_t (*InlayLibraryFunction)(const void* const* operands, const int64_t* operand_strides,
                                        void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                        uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                        const int32_t* stop);
}

namespace inlay::library {

/// The function with this name, or null. Where it calls BLAS or LAPACK, and neither is to be had, the one that does
/// without. Errors: unsupported: those that are to be had are not as they must be.
InlayLibraryFunction find_function(std::string_view name);
/// The one that calls no BLAS and no LAPACK, whatever is to be had.
InlayLibraryFunction find_function_without_blas(std::string_view name);

}  // namespace inlay::library
