#include "ir/parse_sizes.h"

#include <algorithm>
#include <charconv>

#include "ir/mistakes.h"
#include "ir/nearest.h"

namespace inlay::text {

namespace {

int64_t integer(Cursor& in, std::string_view sign) {
  const Token& token = in.expect(Token::Kind::integer, "an integer");
  const std::string digits = str(sign, token.text);
  int64_t result = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (failure != std::errc() || end != digits.data() + digits.size()) {
    throw Error(ErrorCode::syntax, in.location(token), str(digits, " does not fit 64 bits"));
  }
  return result;
}

DType dtype(Cursor& in) {
  const Token token = in.expect(Token::Kind::name, "a dtype");
  if (const auto found = dtype_from_name(token.text)) return *found;
  std::vector<std::string> known;
  for (int i = 0; i < kNumDTypes; ++i) known.emplace_back(dtype_name(static_cast<DType>(i)));
  throw unknown(in, token, "dtype", "", known);
}

}  // namespace

Error unknown(const Cursor& in, const Token& token, std::string_view what, std::string_view sign,
              const std::vector<std::string>& known, ErrorCode code) {
  Error error(code, in.location(token), str("there is no ", what, " ", sign, token.text));
  const auto of_numpy = word_for_numpy(token.text);
  const bool fits = of_numpy && std::ranges::find(known, of_numpy->substr(0, of_numpy->find(' '))) != known.end();
  const auto guess = fits ? of_numpy : nearest(token.text, known);
  return guess ? std::move(error).help(str("did you mean ", sign, *guess, "?")) : error;
}

int64_t signed_integer(Cursor& in) { return integer(in, in.accept("-") ? "-" : ""); }

Dim Sizes::symbol(const Token& token, NewSymbols allowed) {
  const auto found = symbols_.find(token.text);
  if (found != symbols_.end()) return found->second.dim;
  if (allowed == NewSymbols::no) throw unknown(in_, token, "symbol", "", keys(symbols_));
  const Dim made = builder_.symbol(token.text);
  symbols_[token.text] = {made, in_.location(token)};
  return made;
}

void Sizes::check_bound() const {
  for (const auto& [name, entry] : symbols_) {
    if (entry.dim.is_constant()) continue;
    const Graph& graph = builder_.graph();
    const SymbolId symbol = entry.dim.as_symbol();
    if (graph.is_given(symbol) || graph.symbols[symbol].source.valid()) continue;
    throw undefined_size(entry.location, name);
  }
}

Dim Sizes::dim(NewSymbols allowed) {
  Dim sum = in_.accept("-") ? Dim(0) - product(allowed) : product(allowed);
  for (;;) {
    if (in_.accept("+")) {
      sum = sum + product(allowed);
    } else if (in_.accept("-")) {
      sum = sum - product(allowed);
    } else {
      return sum;
    }
  }
}

Dim Sizes::product(NewSymbols allowed) {
  Dim result = factor(allowed);
  while (in_.accept("*")) result = result * factor(allowed);
  return result;
}

Dim Sizes::nested(NewSymbols allowed) {
  const Deeper deeper(in_, around_, "a size");
  return dim(allowed);
}

Dim Sizes::factor(NewSymbols allowed) {
  if (in_.peek().kind == Token::Kind::integer) return integer(in_, "");
  if (in_.accept("(")) {
    const Dim inner = nested(allowed);
    in_.expect(")");
    return inner;
  }
  const Token token = in_.expect(Token::Kind::name, "a size");
  if (!in_.at("(")) return symbol(token, allowed);
  in_.expect("(");
  const Dim a = nested(allowed);
  in_.expect(",");
  const Dim b = nested(allowed);
  in_.expect(")");
  if (token.text == "min") return min(a, b);
  if (token.text == "max") return max(a, b);
  if (token.text != "floordiv") throw unknown(in_, token, "function of sizes", "", {"min", "max", "floordiv"});
  if (b.is_constant() && b.constant() <= 0) {
    throw Error(ErrorCode::syntax, in_.location(token), "floordiv: the divisor is not positive");
  }
  return floor_div(a, b);
}

TensorType Sizes::type(NewSymbols allowed) {
  TensorType result{dtype(in_), {}};
  if (in_.accept("[")) in_.list("]", [&] { result.dims.push_back(dim(allowed)); });
  return result;
}

}  // namespace inlay::text
