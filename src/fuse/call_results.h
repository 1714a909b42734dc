#pragma once
#include "kernel/kernel.h"

namespace inlay::fuse {

/// What a library function makes and a loop only brings to its place, a slice of an update or a part of a concatenation
/// or its transpose, the function writes there, where it can write so that it lies like that (LibraryLayout). The loop,
/// or its part, is dropped.
///
/// Before kernels are joined: then each is one loop. A call that writes into what begins with something, or over what
/// was written before, moves behind that.
void place_results(kernel::KernelProgram& program);

}  // namespace inlay::fuse
