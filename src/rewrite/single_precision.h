#pragma once
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Computes in f32 what a program computes in f64 only to round it to f32: a sum of f32 values that is folded in f64, a
/// mean, the variance below a standard deviation. Likewise in c64 what it computes in c128. It runs only where it is
/// asked for (PassOptions::single_precision): results are less accurate, and what is beyond the range of f32 on the
/// way is infinite, or 0, or NaN of these. A CPU without f64 in hardware has less to do: a Cortex-M33 1340 instructions
/// instead of 19752 for the standard deviation of 64 floats.
///
/// What changes are whole regions of f64 values. A region begins at casts of f32 (f16, bf16, short integers, sizes) and
/// at literals within f32's range, and ends at casts to f32; what the program says in f64 itself, a parameter, a
/// result, an integer that f32 does not hold, a value that a loop carries, is in none. What a region compares is f32
/// too where that chooses between numbers that are rounded anyway: no assert, branch, index or result reads it. (They
/// may read what is made of a rounded number, which differs as such a number does.)
///
/// Run it after dead values are gone, since a reader is what keeps a value in f64, and before several reductions become
/// one.
std::optional<Graph> use_single_precision(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
