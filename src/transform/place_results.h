#pragma once
#include "transform/loop_pass.h"

namespace inlay::transform {

/// What a library function makes and a loop only brings to its place, a slice of an update or a part of a concatenation
/// or its transpose, the function writes there, where it can write so that it lies like that (LibraryLayout). The loop,
/// or its part, is dropped.
///
/// Before kernels are joined: then each is one loop. A call that writes into what begins with something, or over what
/// was written before, moves behind that.
kernel::KernelProgram place_results(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
