#pragma once
// How large a size can be when its symbols are at most so large.
#include <span>

#include "ir/dim.h"

namespace inlay::memory {

/// No value of `size` is larger, where each symbol is between 0 and its bound. By intervals: exact where the size only
/// grows with its symbols, and never too small where it does not. Symbols that do not occur in it may have any bound.
/// Throws Error(size-overflow).
int64_t at_most(const Dim& size, std::span<const int64_t> upper_bounds);

}  // namespace inlay::memory
