#pragma once
// Which statements of a stage have to run.
#include <functional>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// By statement: does it write or can it fail, or is what it makes read by one that is live? What is elided counts as
/// if it were not there, and so does what `is_needless` says of statements by their place.
std::vector<bool> live_statements(const Stage& stage, const std::function<bool(std::size_t)>& is_needless = {});

/// By register: does a live statement read it?
std::vector<bool> read_registers(const Stage& stage, const std::vector<bool>& live);

/// The statement that makes the register; null where none does.
const Statement* maker_of(const Stage& stage, RegisterId r);

/// Drops what is not live. What is elided stays: another plan may need it.
void drop_unused(Stage& stage);

}  // namespace inlay::kernel
