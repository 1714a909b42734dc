#pragma once
// The maximum of a size expression whose symbols have upper bounds.
#include <span>

#include "ir/dim.h"

namespace inlay::memory {

/// Returns a number that `size` never exceeds when each symbol is between 0 and its bound. It uses intervals: exact if
/// the size only grows with its symbols, else possibly too large, never too small. Symbols that do not occur in it may
/// have any bound. Throws Error(size-overflow).
int64_t at_most(const Dim& size, std::span<const int64_t> upper_bounds);

}  // namespace inlay::memory
