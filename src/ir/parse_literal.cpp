#include "ir/parser.h"

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

Literal literal(const Cursor& in, DType dtype, const Number& number) {
  if (const auto value = Literal::of_text(dtype, number.text)) return *value;
  throw Error(ErrorCode::wrong_dtype, in.location(number.token),
              str("literal: ", number.text, " is no ", dtype_name(dtype)));
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
