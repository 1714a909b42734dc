#include "kernel/text_reader.h"

#include <charconv>
#include <limits>

#include "support/number_text.h"

namespace inlay::kernel {
namespace {

constexpr int kMaxDepth = 64;           // of nested size expressions
constexpr int64_t kMaxIndex = 1 << 20;  // of a register or a site: readers of a program allocate tables of that size

}  // namespace

TextReader::TextReader(std::string_view text, std::string_view file_name)
    : Cursor(lex(text, file_name, text::Language::kernels)) {
  if (!diagnostics().empty()) throw Error(diagnostics().front());
}

int64_t TextReader::number(const Token& token) const {
  int64_t out = 0;
  const auto [end, problem] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), out);
  if (problem != std::errc() || end != token.text.data() + token.text.size()) {
    throw error(token, ErrorCode::syntax, str("`", token.text, "` is not a whole number of 64 bits"));
  }
  return out;
}

int64_t TextReader::integer() {
  const int64_t sign = accept("-") ? -1 : 1;
  const Token digits = expect(Token::Kind::integer, "a whole number");
  if (sign < 0 && digits.text == "9223372036854775808") return std::numeric_limits<int64_t>::min();
  return sign * number(digits);
}

int TextReader::small_integer() {
  const Token token = peek();
  const int64_t value = integer();
  if (value < 0 || value > kMaxIndex) throw error(token, ErrorCode::syntax, str(value, " is no position"));
  return static_cast<int>(value);
}

std::size_t TextReader::index_of(Token::Kind kind, std::string_view wanted) {
  const Token token = expect(kind, wanted);
  const int64_t index = number(token);
  if (index > kMaxIndex) throw error(token, ErrorCode::syntax, str(text::describe(token), " is numbered too high"));
  return static_cast<std::size_t>(index);
}

BufferId TextReader::buffer() {
  const Token token = expect(Token::Kind::name, "the name of a buffer");
  const auto found = buffers_.find(token.text);
  if (found == buffers_.end()) {
    throw error(token, ErrorCode::unknown_name, str("there is no buffer `", token.text, "`"));
  }
  return found->second;
}

SymbolId TextReader::symbol() {
  const Token token = expect(Token::Kind::name, "the name of a symbol");
  const auto found = symbols_.find(token.text);
  if (found == symbols_.end()) {
    throw error(token, ErrorCode::unknown_name, str("there is no symbol `", token.text, "`"));
  }
  return found->second;
}

DType TextReader::dtype() {
  const Token token = expect(Token::Kind::name, "a dtype");
  const std::optional<DType> found = dtype_from_name(token.text);
  if (!found) throw error(token, ErrorCode::wrong_dtype, str("there is no dtype `", token.text, "`"));
  return *found;
}

Dim TextReader::dim(int depth) {
  if (depth > kMaxDepth) throw error(peek(), ErrorCode::syntax, "this size is nested too deeply");
  Dim sum = accept("-") ? Dim(-1) * dim_term(depth) : dim_term(depth);
  while (at("+") || at("-")) {
    const bool minus = next().text == "-";
    const Dim term = dim_term(depth);
    sum = minus ? sum - term : sum + term;
  }
  return sum;
}

Dim TextReader::dim_term(int depth) {
  Dim out = dim_factor(depth);
  while (accept("*")) out = out * dim_factor(depth);
  return out;
}

Dim TextReader::dim_factor(int depth) {
  if (peek().kind == Token::Kind::integer) return number(next());
  if (accept("(")) {
    Dim inner = dim(depth + 1);
    expect(")");
    return inner;
  }
  if (!at("(", 1)) return Dim::symbol(symbol());
  const Token function = expect(Token::Kind::name, "a size");
  expect("(");
  const Dim left = dim(depth + 1);
  expect(",");
  const Dim right = dim(depth + 1);
  expect(")");
  if (function.text == "floordiv") {
    if (right.is_constant() && right.constant() <= 0)
      throw error(function, ErrorCode::syntax, "floordiv: the divisor is not positive");
    return floor_div(left, right);
  }
  if (function.text == "min") return min(left, right);
  if (function.text == "max") return max(left, right);
  throw error(function, ErrorCode::unknown_name, str("there is no size function `", function.text, "`"))
      .help("floordiv, min and max");
}

std::optional<int> TextReader::axis_named(const Token& token) const {
  const auto found = std::ranges::find(axes_, token.text);
  if (token.kind != Token::Kind::name || found == axes_.end()) return std::nullopt;
  return static_cast<int>(found - axes_.begin());
}

Subscript TextReader::subscript() {
  Subscript out;
  subscript_term(out, accept("-") ? -1 : 1);
  while (at("+") || at("-")) subscript_term(out, next().text == "-" ? -1 : 1);
  std::ranges::sort(out.axes, {}, &AxisTerm::axis);
  return out;
}

/// Reads one term: `3*i`, `n*i`, `2*wrap(...)` or a part of the base.
void TextReader::subscript_term(Subscript& out, int64_t sign) {
  Dim step = 1;
  do {
    if (const std::optional<int> axis = axis_named(peek())) {
      const Token token = next();
      const bool twice = std::ranges::any_of(out.axes, [&](const AxisTerm& term) { return term.axis == *axis; });
      if (twice) throw error(token, ErrorCode::syntax, str("axis `", token.text, "` stands twice in one subscript"));
      out.axes.push_back({*axis, Dim(sign) * step});
      return;
    }
    if (at("wrap") && at("(", 1)) {
      const Token token = peek();
      if (out.index) throw error(token, ErrorCode::syntax, "a subscript has one loaded index at most");
      if (!step.is_constant()) throw error(token, ErrorCode::syntax, "the step of a loaded index is no number");
      out.index = index_term();
      out.index->step = sign * step.constant();
      return;
    }
    step = step * dim_factor(0);
  } while (accept("*"));
  out.base = out.base + Dim(sign) * step;
}

IndexTerm TextReader::index_term() {
  IndexTerm out;
  expect("wrap");
  expect("(");
  out.index = reg();
  expect(",");
  out.extent = dim();
  expect(")");
  if (accept("proved")) {
    out.bounds = Bounds::proved;
    return out;
  }
  expect("checked");
  if (accept("before")) out.bounds = Bounds::checked_before;
  out.site = site();
  return out;
}

AccessMap TextReader::map() {
  AccessMap out;
  expect("[");
  list("]", [&] { out.subscripts.push_back(subscript()); });
  return out;
}

Literal TextReader::literal(DType dtype) {
  if (is_complex(dtype)) {
    expect("(");
    const double re = literal(DType::f64).f;
    expect(",");
    const double im = literal(DType::f64).f;
    expect(")");
    return Literal::of_float(dtype, re, im);
  }
  const bool negative = accept("-");
  const Token token = next();
  if (token.text == "true" || token.text == "false") return Literal::of_integer(dtype, token.text == "true");
  if (is_float(dtype)) {
    const bool is_number = token.kind == Token::Kind::integer || token.kind == Token::Kind::real ||
                           token.text == "inf" || token.text == "nan";
    const std::optional<double> value = is_number ? number_of(token.text) : std::nullopt;
    if (!value) throw error(token, ErrorCode::syntax, str("expected a number, found ", text::describe(token)));
    return Literal::of_float(dtype, negative ? -*value : *value);
  }
  uint64_t bits = 0;
  const char* end = token.text.data() + token.text.size();
  const auto read = std::from_chars(token.text.data(), end, bits);
  if (token.kind != Token::Kind::integer || read.ec != std::errc() || read.ptr != end) {
    throw error(token, ErrorCode::syntax, str("expected a whole number, found ", text::describe(token)));
  }
  return Literal::of_integer(dtype, static_cast<int64_t>(negative ? 0 - bits : bits));
}

}  // namespace inlay::kernel
