#include <charconv>
#include <optional>

#include "ir/parser.h"
#include "support/number_text.h"

namespace inlay::text {

namespace {

/// A number as it is written: where, and with its sign.
struct Number {
  Token token;
  std::string text;
};

Number number(Cursor& in) {
  const std::string sign = in.accept("-") ? "-" : "";
  const Token& token = in.peek();
  const bool known_name = token.kind == Token::Kind::name &&
                          (token.text == "true" || token.text == "false" || token.text == "inf" || token.text == "nan");
  if (token.kind != Token::Kind::integer && token.kind != Token::Kind::real && !known_name) {
    in.fail_expected("a number");
  }
  return {token, sign + in.next().text};
}

/// One number, or a complex one by its parts: (1.5, -2).
std::vector<Number> element(Cursor& in) {
  if (!in.accept("(")) return {number(in)};
  std::vector<Number> parts = {number(in)};
  in.expect(",");
  parts.push_back(number(in));
  in.expect(")");
  return parts;
}

/// u64 as its bits.
std::optional<int64_t> fitting_integer(DType dtype, const std::string& text) {
  const char *first = text.data(), *last = text.data() + text.size();
  if (dtype == DType::u64) {
    uint64_t value = 0;
    const auto read = std::from_chars(first, last, value);
    return read.ec == std::errc() && read.ptr == last ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
  }
  int64_t value = 0;
  const auto read = std::from_chars(first, last, value);
  const int bits = static_cast<int>(size_bytes(dtype)) * 8;
  const bool is_signed = is_signed_integer(dtype);
  const int64_t least = is_signed ? -(int64_t{1} << (bits - 2)) * 2 : 0;
  const int64_t greatest = is_signed ? -(least + 1) : (int64_t{1} << bits) - 1;
  const bool fits = read.ec == std::errc() && read.ptr == last && value >= least && value <= greatest;
  return fits ? std::optional(value) : std::nullopt;
}

Literal literal(const Cursor& in, DType dtype, const Number& number) {
  const auto& [token, text] = number;
  const bool is_word = token.kind == Token::Kind::name && token.text != "inf" && token.text != "nan";
  if (is_float(dtype) && !is_word) {
    if (const auto value = number_of(text)) return Literal::of_float(dtype, *value);
  }
  if (dtype == DType::boolean && (text == "true" || text == "false")) return Literal::of_integer(dtype, text == "true");
  if (is_integer(dtype) && token.kind == Token::Kind::integer) {
    if (const auto value = fitting_integer(dtype, text)) return Literal::of_integer(dtype, *value);
  }
  throw Error(ErrorCode::wrong_dtype, in.location(token), str("literal: ", text, " is no ", dtype_name(dtype)));
}

Literal literal(const Cursor& in, DType dtype, const std::vector<Number>& written) {
  if (is_complex(dtype) && written.size() == 2) {
    const DType part = real_of(dtype);
    return Literal::of_float(dtype, literal(in, part, written[0]).f, literal(in, part, written[1]).f);
  }
  if (is_complex(dtype)) return Literal::of_float(dtype, literal(in, real_of(dtype), written[0]).f);
  if (written.size() == 1) return literal(in, dtype, written[0]);
  throw Error(ErrorCode::wrong_dtype, in.location(written[0].token),
              str("literal: (", written[0].text, ", ", written[1].text, ") is no ", dtype_name(dtype)));
}

}  // namespace

ValueId literal(Parser& p) {
  std::vector<std::vector<Number>> elements;
  const bool scalar = !p.in.accept("[");
  if (scalar) {
    elements.push_back(element(p.in));
  } else {
    p.in.list("]", [&] { elements.push_back(element(p.in)); });
  }
  p.in.expect(":");
  const TensorType declared = p.sizes.type();
  std::vector<Literal> values;
  for (const std::vector<Number>& written : elements) values.push_back(literal(p.in, declared.dtype, written));
  if (scalar && declared.dims.empty()) return p.builder().literal(values[0]);
  return p.builder().literal(std::move(values), declared.dims);
}

}  // namespace inlay::text
