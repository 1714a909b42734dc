#pragma once
// Orders the steps of a program so that it needs little memory.
//
// Dependences leave a choice: of two independent branches one may be finished before the other begins. Steps move only
// between the markers of a loop or a cond, size checks, and host calls, which nothing moves past; so each body is a
// problem of its own, and segments stay what they are. Steps that can fail keep their order, none of them moves behind
// a write to the caller's bytes that it came before, and an update, a carried value or a donated parameter that the
// given order computes in place is computed in place in every order.
//
// The given order stays unless another is proved to need less: for static sizes by its arena, else by the sum of the
// live sizes at its largest step, for all sizes (except for rounding each up to whole 64 bytes).
#include <string>
#include <string_view>

#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay::memory {

/// given: the order of fuse, in which producers and consumers are close. memory: the order that needs the least.
enum class StepOrder : uint8_t { given, memory };
inline constexpr std::string_view kStepOrderNames[] = {"given", "memory"};
/// Returns the order of this name. `said_by` is where the name was given: "--order". Throws Error(unknown-name).
StepOrder step_order_named(std::string_view name, std::string_view said_by);

struct OrderedSteps {
  SharedProgram shared;
  std::string gain;  // "at most 512 bytes live at a time, not 768"; empty: it is the given order
};

OrderedSteps order_steps(SharedProgram given, StepOrder order = StepOrder::memory);

}  // namespace inlay::memory
