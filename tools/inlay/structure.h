#pragma once
// What became of a graph, as text that a test can hold still.
#include <span>
#include <string>
#include <string_view>

#include "compiler/compile.h"

namespace inlay::tool {

/// "kernels 1, stages 2, reads n, writes n": the facts that `wanted` names, in its order, with the numbers of this
/// program. `copies` are those where bytes really move. Without names: the usual ones. `sizes` are for arena_bytes,
/// which is a number only for known sizes.
std::string count_text(const Lowered& program, std::string_view wanted, std::span<const int64_t> sizes);

/// The kernels, one after the other.
std::string fuse_text(const Lowered& program);

}  // namespace inlay::tool
