#pragma once
#include "transform/loop_pass.h"

namespace inlay::transform {

/// A temporary of which each outer point has its own, and which nothing else names, becomes local to that point: a
/// scalar, or a short row that stays in the cache. Rows go by tiles where something expensive is made once for each
/// row, so that it runs in vectors.
kernel::KernelProgram choose_locals(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
