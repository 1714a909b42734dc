#pragma once
// Computes scalar ops and casts of literals.
#include <optional>
#include <span>

#include "ops/literal.h"

namespace inlay::rewrite {

/// Returns op of literals; nothing if it cannot be computed here, or is an error that belongs to the run.
std::optional<Literal> fold_scalar(ScalarOp op, std::span<const Literal> operands);

/// Returns the literal in another dtype; nothing also if the value does not fit: its result is defined by the run.
std::optional<Literal> fold_cast(const Literal& literal, DType dtype);

/// Is every value of `from` also one of `to`?
bool holds_all_values(DType to, DType from);

}  // namespace inlay::rewrite
