#pragma once
// A size as a small program over symbols: the runtime's form of a Dim, which needs no ir.
#include <cstdint>
#include <span>
#include <vector>

namespace inlay::runtime {

/// Postfix: each item pushes one number, or pops two and pushes one.
struct SizeItem {
  enum class Kind : uint8_t { constant, symbol, add, multiply, floor_div, min, max };
  Kind kind = Kind::constant;
  int64_t number = 0;  // of constant, symbol
};

struct SizeExpr {
  std::vector<SizeItem> items;

  SizeExpr() = default;
  explicit SizeExpr(int64_t constant) : items{{SizeItem::Kind::constant, constant}} {}
  bool is_constant() const { return items.size() == 1 && items[0].kind == SizeItem::Kind::constant; }
  int64_t evaluate(std::span<const int64_t> symbols) const;
};

}  // namespace inlay::runtime
