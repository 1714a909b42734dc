#pragma once
// How many rows of a tile pass all stages of a kernel before the next rows do, where only their length tells.
#include "kernel/kernel.h"

namespace inlay::kernel {

/// Do several stages pass the points of rows, of no known number, and do all leave nothing but numbers of their row? In
/// which order rows are passed does not show then. (A sum of squares about the mean.)
bool folds_rows_again(const Kernel& kernel);

/// A tile has room for so many rows as it says. A backend passes no more of them at a time than this: rows that may be
/// short take many, and of those that are long what one stage has read is still in the first cache for the next.
Dim rows_at_once(const Kernel& kernel);

}  // namespace inlay::kernel
