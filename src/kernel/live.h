#pragma once
// Which statements of a stage have to run.
#include <functional>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Returns, by statement, whether it is live: it writes, it can fail, or a live statement reads its result. Elided
/// statements count as absent, and so do those for whose positions `is_needless` holds.
std::vector<bool> live_statements(const Stage& stage, const std::function<bool(std::size_t)>& is_needless = {});

/// Returns, by register, whether a live statement reads it.
std::vector<bool> read_registers(const Stage& stage, const std::vector<bool>& live);

/// Returns the statement that makes the register, or null.
const Statement* maker_of(const Stage& stage, RegisterId r);

/// Removes statements that are not live. Elided ones stay: another plan may need them.
void drop_unused(Stage& stage);

}  // namespace inlay::kernel
