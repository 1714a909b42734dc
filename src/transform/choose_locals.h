#pragma once
#include "transform/loop_pass.h"

namespace inlay::transform {

/// Is it an op that costs more than a division or a root, one number at a time?
bool is_expensive(const kernel::Statement& s);

/// How many points the stage passes for one point of the kernel's outer axes.
Dim points_of_row(const kernel::Stage& stage);

/// How many rows or columns the kernel shall pass at a time; 1: rows by themselves. Rows by tiles where something
/// expensive is made once for each row, or columns of short rows are summed, or all that is made of rows that may be
/// short is made once for each.
int64_t tile_of(const kernel::Kernel& kernel, const kernel::BackendCaps& caps);

/// A temporary of which each outer point has its own, and which nothing else names, becomes local to that point: a
/// scalar, or a short row that stays in the cache. Rows go by tiles where something expensive is made once for each
/// row, so that it runs in vectors.
kernel::KernelProgram choose_locals(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
