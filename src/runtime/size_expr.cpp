#include "runtime/size_expr.h"

#include <algorithm>
#include <array>
#include <optional>

#include "support/error.h"
#include "support/exact.h"

namespace inlay::runtime {
namespace {

constexpr std::size_t kInlineDepth = 16;

std::optional<int64_t> apply(SizeItem::Kind kind, int64_t a, int64_t b) {
  switch (kind) {
    case SizeItem::Kind::constant:
    case SizeItem::Kind::symbol: break;
    case SizeItem::Kind::add: return exact::add(a, b);
    case SizeItem::Kind::multiply: return exact::multiply(a, b);
    case SizeItem::Kind::floor_div: return exact::floor_div(a, b);
    case SizeItem::Kind::min: return std::min(a, b);
    case SizeItem::Kind::max: return std::max(a, b);
  }
  return 0;
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
      const std::optional<int64_t> number = apply(item.kind, stack[depth - 1], stack[depth]);
      if (!number) throw Error(ErrorCode::size_overflow, {}, "a size does not fit in 64 bits");
      stack[depth - 1] = *number;
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
