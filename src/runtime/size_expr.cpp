#include "runtime/size_expr.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "support/error.h"

namespace inlay::runtime {
namespace {

constexpr std::size_t kInlineDepth = 16;

int64_t floor_div_value(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

int64_t apply(SizeItem::Kind kind, int64_t a, int64_t b) {
  int64_t out = 0;
  bool overflow = false;
  switch (kind) {
    case SizeItem::Kind::constant:
    case SizeItem::Kind::symbol: break;
    case SizeItem::Kind::add: overflow = __builtin_add_overflow(a, b, &out); break;
    case SizeItem::Kind::multiply: overflow = __builtin_mul_overflow(a, b, &out); break;
    case SizeItem::Kind::floor_div:
      overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
      if (!overflow) out = floor_div_value(a, b);
      break;
    case SizeItem::Kind::min: out = std::min(a, b); break;
    case SizeItem::Kind::max: out = std::max(a, b); break;
  }
  if (overflow) throw Error(ErrorCode::size_overflow, {}, "a size does not fit in 64 bits");
  return out;
}

int64_t evaluate_on(std::span<const SizeItem> items, std::span<const int64_t> symbols, std::span<int64_t> stack) {
  std::size_t depth = 0;
  for (const SizeItem& item : items) {
    if (item.kind == SizeItem::Kind::constant) {
      stack[depth++] = item.number;
    } else if (item.kind == SizeItem::Kind::symbol) {
      INLAY_CHECK(item.number >= 0 && static_cast<std::size_t>(item.number) < symbols.size(), "size over symbol ",
                  item.number, " of ", symbols.size());
      stack[depth++] = symbols[static_cast<std::size_t>(item.number)];
    } else {
      INLAY_CHECK(depth >= 2, "a size expression pops what it did not push");
      --depth;
      stack[depth - 1] = apply(item.kind, stack[depth - 1], stack[depth]);
    }
  }
  INLAY_CHECK(depth == 1, "a size expression leaves ", depth, " numbers");
  return stack[0];
}

}  // namespace

int64_t SizeExpr::evaluate(std::span<const int64_t> symbols) const {
  if (is_constant()) return items[0].number;
  if (items.size() <= kInlineDepth) {
    std::array<int64_t, kInlineDepth> stack;
    return evaluate_on(items, symbols, stack);
  }
  std::vector<int64_t> stack(items.size());
  return evaluate_on(items, symbols, stack);
}

}  // namespace inlay::runtime
