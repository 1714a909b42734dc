#pragma once
// Which statements of a stage have to run.
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// By statement: does it write or can it fail, or is what it makes read by one that is live? What `skip` names (it may
/// be shorter) need not be done, and counts as if it were not there.
std::vector<bool> live_statements(const Stage& stage, const std::vector<bool>& skip = {});

/// By register: does a live statement read it?
std::vector<bool> read_registers(const Stage& stage, const std::vector<bool>& live);

/// Leaves the live statements alone.
void drop_unused(Stage& stage);

}  // namespace inlay::kernel
