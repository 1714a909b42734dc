#pragma once
// Log-sum-exp in registers: sums of exponentials less of the maximum that was met.
#include "backend/llvm/lanes.h"

namespace inlay::llvm_backend {

/// The two states of a log-sum-exp, at the same points.
struct SumOfExponentials {
  Value *sum = nullptr, *maximum = nullptr;
};

/// `before` and the points x of all lanes that are active (null: all).
SumOfExponentials add_exponentials(FunctionEmitter& f, const kernel::Statement& fold, const SumOfExponentials& before,
                                   Value* x, Value* active);
/// The sum as if it had met the maximum `met`.
Value* at_maximum(FunctionEmitter& f, const kernel::Statement& fold, const SumOfExponentials& both, Value* met);
/// All lanes as one: each as if it had met the maximum of all.
SumOfExponentials joined_lanes(FunctionEmitter& f, const kernel::Statement& fold, const SumOfExponentials& lanes);

}  // namespace inlay::llvm_backend
