#pragma once
// What the passes share that keep a value of one stage for another: is it the same value, may it be read earlier, where
// does it lie?
#include <span>
#include <string_view>

#include "kernel/kernel.h"

namespace inlay::transform {

/// Does the stage write to bytes of the buffer?
bool is_written_in(const kernel::KernelProgram& program, const kernel::Stage& stage, kernel::BufferId buffer);

/// Do the statements say the same, but for their results? They make the same where what they load is the same.
bool say_the_same(const kernel::Statement& a, const kernel::Statement& b);

/// An axis of a kernel, and how many of its points are kept.
struct KeptAxis {
  int axis = 0;
  Dim extent;
};

struct KeptPlace {
  kernel::BufferId buffer;
  kernel::AccessMap map;
};

/// Adds a temporary with an element for each point of these axes, which the kernel makes. It is named by what it keeps,
/// "row".
KeptPlace add_kept(kernel::KernelProgram& program, kernel::Kernel& kernel, std::string_view what, kernel::StoredFor why,
                   DType dtype, std::span<const KeptAxis> axes, bool is_local);

}  // namespace inlay::transform
