#pragma once
// Scalar ops and casts on values that are known.
#include <optional>
#include <span>

#include "ops/literal.h"

namespace inlay::rewrite {

/// op of literals; none where it cannot be computed here, or is an error that belongs to the run.
std::optional<Literal> fold_scalar(ScalarOp op, std::span<const Literal> operands);

/// None also where the value does not fit: what that gives is the run's business.
std::optional<Literal> fold_cast(const Literal& literal, DType dtype);

/// Is every value of `from` also one of `to`?
bool holds_all_values(DType to, DType from);

}  // namespace inlay::rewrite
