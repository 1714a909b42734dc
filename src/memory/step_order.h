#pragma once
// The order in which the steps of a program run, for little memory.
//
// What waits for what leaves a choice: of two independent branches one may be finished before the other begins. Steps
// move only between the markers of a loop or a cond, size checks, and host calls, which nothing passes; so a body is a
// problem of its own, and segments stay what they are. Those that can fail keep their order, none of them comes behind
// a write to the caller's bytes that it stood before, and what the given order computes in place of an update's base,
// of a carried value or of a donated parameter, every order does.
//
// The given order stays wherever another is not proved to need less: for static sizes by its arena, else by the sum of
// the sizes that live at its fullest step, for all sizes (but for rounding each up to whole 64 bytes).
#include <string>
#include <string_view>

#include "kernel/kernel.h"
#include "memory/plan.h"

namespace inlay::memory {

/// given: as fuse made it, where what is used together stands together. memory: the one that needs the least.
enum class StepOrder : uint8_t { given, memory };
inline constexpr std::string_view kStepOrderNames[] = {"given", "memory"};
/// Throws Error(unknown-name). `said_by`: where the name stands, "--order".
StepOrder step_order_named(std::string_view name, std::string_view said_by);

struct OrderedSteps {
  SharedProgram shared;
  std::string gain;  // "at most 512 bytes live at a time, not 768"; empty: it is the given order
};

OrderedSteps order_steps(SharedProgram given, StepOrder order = StepOrder::memory);

}  // namespace inlay::memory
