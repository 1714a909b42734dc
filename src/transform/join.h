#pragma once
// Two kernels become one where the second one waits for the first: what stands between them and has no part in either
// does not keep them apart.
#include <functional>
#include <span>
#include <vector>

#include "kernel/kernel.h"
#include "transform/apart.h"
#include "transform/loop_pass.h"

namespace inlay::transform {

/// 0-d arithmetic that goes on with what one kernel makes and leads to another, in an order in which it can run.
using Between = std::span<kernel::Kernel* const>;

/// What may stand between two kernels that are offered to each other.
enum class Through : uint8_t { nothing, scalars };

struct JoinRule {
  const char* pass;  // that goes by it
  Through through;
  /// Is the pair worth a look at what stands between? Where the rule is not about such a pair, it says nothing.
  std::function<bool(const kernel::Kernel& first, const kernel::Kernel& second, WhyNot* why)> fits;
  /// Makes what stands between and the second kernel stages of the first, or leaves all as they are and returns false.
  std::function<bool(kernel::Kernel& first, Between between, kernel::Kernel& second, WhyNot* why)> join;
};

/// What stands in a body was joined when that was fused. Offers each other kernel to those that it waits for, the last
/// one first; neither is 0-d arithmetic. What the second one waits for besides comes before both, the rest stays in
/// order. Steps that can fail keep theirs.
void join_kernels(kernel::KernelProgram& program, const JoinRule& rule, LoopPassContext& context);

/// Would the rule make the second kernel, which waits for the first, and the 0-d arithmetic between them stages of the
/// first? If not, it says why.
bool would_join(const kernel::KernelProgram& program, const JoinRule& rule, const kernel::Kernel& first,
                std::span<const kernel::Kernel> between, const kernel::Kernel& second, WhyNot& why);

/// Adds the stages of `second`, and its outputs that `first` does not have.
void append(kernel::Kernel& first, kernel::Kernel second);

/// Would one kernel for both have few enough loops? Generating the code of a kernel is superlinear in them, and so is
/// joining more to it (a chain of 800 softmaxes, s: in one kernel 79, in 26 of them 12).
bool has_few_loops(const kernel::Kernel& first, const kernel::Kernel& second, WhyNot* why);

/// Has the kernel the bytes of `buffer` among its outputs?
bool writes(const kernel::KernelProgram& program, const kernel::Kernel& kernel, kernel::BufferId buffer);

/// What the kernel's outputs hold in the beginning, may they hold that before these kernels?
bool starts_can_be_earlier(const kernel::KernelProgram& program, const kernel::Kernel& kernel,
                           std::span<const kernel::Kernel* const> before, WhyNot* why);

}  // namespace inlay::transform
