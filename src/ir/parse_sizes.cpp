#include <algorithm>
#include <charconv>
#include <limits>

#include "ir/linalg.h"
#include "ir/mistakes.h"
#include "ir/nearest.h"
#include "ir/parser.h"
#include "support/counted.h"
#include "support/number_text.h"

namespace inlay::text {

Dim Parser::symbol(const Token& token, NewSymbols allowed) {
  const auto found = symbols_.find(token.text);
  if (found != symbols_.end()) return found->second.dim;
  if (allowed == NewSymbols::no) throw unknown(token, "symbol", "", keys(symbols_));
  const Dim made = builder_.symbol(token.text);
  symbols_[token.text] = {made, in_.location(token)};
  return made;
}

Dim Parser::dim(NewSymbols allowed) {
  Dim sum = in_.accept("-") ? Dim(0) - dim_product(allowed) : dim_product(allowed);
  for (;;) {
    if (in_.accept("+")) {
      sum = sum + dim_product(allowed);
    } else if (in_.accept("-")) {
      sum = sum - dim_product(allowed);
    } else {
      return sum;
    }
  }
}

Dim Parser::dim_product(NewSymbols allowed) {
  Dim result = dim_factor(allowed);
  while (in_.accept("*")) result = result * dim_factor(allowed);
  return result;
}

/// A size within a size goes one deeper; a text that nests without end is refused, where it would end the stack.
Dim Parser::nested_dim(NewSymbols allowed) {
  const Deeper deeper(*this, sizes_around_, "a size");
  return dim(allowed);
}

Dim Parser::dim_factor(NewSymbols allowed) {
  if (in_.peek().kind == Token::Kind::integer) return integer<int64_t>("");
  if (in_.accept("(")) {
    const Dim inner = nested_dim(allowed);
    in_.expect(")");
    return inner;
  }
  const Token token = in_.expect(Token::Kind::name, "a size");
  if (!in_.at_punctuation("(")) return symbol(token, allowed);
  in_.expect("(");
  const Dim a = nested_dim(allowed);
  in_.expect(",");
  const Dim b = nested_dim(allowed);
  in_.expect(")");
  if (token.text == "min") return min(a, b);
  if (token.text == "max") return max(a, b);
  if (token.text != "floordiv") throw unknown(token, "function of sizes", "", {"min", "max", "floordiv"});
  if (b.is_constant() && b.constant() <= 0) {
    throw Error(ErrorCode::syntax, in_.location(token), "floordiv: the divisor is not positive");
  }
  return floor_div(a, b);
}

int64_t Parser::signed_integer() { return integer<int64_t>(in_.accept("-") ? "-" : ""); }

DType Parser::dtype() {
  const Token token = in_.expect(Token::Kind::name, "a dtype");
  if (const auto found = dtype_from_name(token.text)) return *found;
  std::vector<std::string> known;
  for (int i = 0; i < kNumDTypes; ++i) known.emplace_back(dtype_name(static_cast<DType>(i)));
  throw unknown(token, "dtype", "", known);
}

TensorType Parser::type(NewSymbols allowed) {
  TensorType result{dtype(), {}};
  if (in_.accept("[")) list("]", [&] { result.dims.push_back(dim(allowed)); });
  return result;
}

}  // namespace inlay::text
