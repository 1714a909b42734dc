#include "kernel/ranges.h"

#include <algorithm>
#include <limits>

#include "kernel/live.h"

namespace inlay::kernel {
namespace {

/// What is no NaN lies between them.
struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

Range range_of(const Stage& stage, RegisterId r, int depth) {
  const Statement* made = depth > 0 ? maker_of(stage, r) : nullptr;
  if (!made) return {};
  if (made->kind == Statement::Kind::literal && is_float(made->dtype)) return {made->literal.f, made->literal.f};
  if (made->kind != Statement::Kind::op) return {};
  const auto operand = [&](std::size_t i) { return range_of(stage, made->operands[i], depth - 1); };
  switch (made->op) {
    case ScalarOp::min_: {
      const Range a = operand(0), b = operand(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case ScalarOp::max_: {
      const Range a = operand(0), b = operand(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case ScalarOp::clip_: {
      const Range x = operand(0), low = operand(1), high = operand(2);
      return {std::min(std::max(x.low, low.low), high.low), std::min(std::max(x.high, low.high), high.high)};
    }
    default: return {};
  }
}

}  // namespace

bool casts_within_i32(const Stage& stage, const Statement& cast, DType from) {
  constexpr int kDepth = 3;  // min of max, or clip, of literals
  if ((from != DType::f32 && from != DType::f64) || !is_integer(cast.dtype)) return false;
  const Range range = range_of(stage, cast.operands[0], kDepth);
  return range.low > -0x1p31 && range.high < 0x1p31;
}

}  // namespace inlay::kernel
