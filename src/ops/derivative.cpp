#include "ops/derivative.h"

#include <array>
#include <optional>

#include "support/error.h"

namespace inlay {
namespace {

using Rows = std::array<std::array<std::optional<Derivative>, 4>, kNumScalarOps>;

Rows read_rows() {
  constexpr std::size_t a = 0, b = 1, c = 2, d = 3;
  Rows rows;
  const auto row = [&](ScalarOp op, std::size_t operand) -> std::optional<Derivative>& {
    auto& found = rows[static_cast<std::size_t>(op)][operand];
    INLAY_CHECK(!found, "two derivatives of ", facts(op).name);
    return found;
  };
#define DERIVATIVE(op, operand, text) row(ScalarOp::op##_, operand) = Derivative{text, parse_expression(text), {}};
#define NO_DERIVATIVE(op, operand, why) row(ScalarOp::op##_, operand) = Derivative{{}, {}, why};
#include "ops/derivatives.def"
#undef DERIVATIVE
#undef NO_DERIVATIVE
  return rows;
}

}  // namespace

const Derivative& derivative(ScalarOp op, int operand) {
  static const Rows rows = read_rows();
  const auto& found = rows[static_cast<std::size_t>(op)].at(static_cast<std::size_t>(operand));
  INLAY_CHECK(found, facts(op).name, " has no row for operand ", operand, " in derivatives.def");
  return *found;
}

}  // namespace inlay
