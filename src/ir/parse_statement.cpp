#include <algorithm>

#include "ir/parser.h"
#include "support/counted.h"

namespace inlay::text {

namespace {

/// What the line says of its origin, or else its own place.
Location statement_location(const Parser& p) {
  for (std::size_t i = 1; p.in.peek(i).kind != Token::Kind::end && !p.in.peek(i).first_on_line; ++i) {
    const bool origin = p.in.peek(i).kind == Token::Kind::name && p.in.peek(i).text == "at";
    if (origin && p.in.peek(i + 1).kind == Token::Kind::string) return {p.in.peek(i + 1).text};
  }
  return p.in.location(p.in.peek());
}

/// An expression or a number stands where an op is expected.
Error no_op(const Parser& p) {
  static const std::map<std::string, std::string_view, std::less<>> kOps = {
      {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"**", "pow"},        {"//", "floor_div"},
      {"%", "mod"}, {"==", "eq"}, {"!=", "ne"}, {"<", "lt"},  {"<=", "le"},         {">", "gt"},
      {">=", "ge"}, {"&", "and"}, {"|", "or"},  {"^", "xor"}, {"<<", "left_shift"}, {">>", "right_shift"}};
  Error error = p.in.expected("an op");
  if (p.in.line_is_over()) return error;
  const Token& first = p.in.peek();
  const bool is_minus = p.in.at("-");
  if ((is_minus || p.in.at("~")) && p.in.peek(1).kind == Token::Kind::value) {
    return std::move(error).help(
        str("the op stands before its operands: `", is_minus ? "neg" : "not", " %", p.in.peek(1).text, "`"));
  }
  const bool is_doubled = kOps.contains(p.in.peek(1).text + p.in.peek(2).text);
  const std::string sign = str(p.in.peek(1).text, is_doubled ? p.in.peek(2).text : "");
  const Token& second = p.in.peek(is_doubled ? 3 : 2);
  if (first.kind == Token::Kind::integer || first.kind == Token::Kind::real) {
    return std::move(error).help(str("a number is `literal ", first.text, " : f64`"));
  }
  if (first.kind == Token::Kind::value && p.in.at("[", 1)) {
    return std::move(error).help(str("a part of %", first.text, " is `slice %", first.text, "[...]`"));
  }
  const auto op = kOps.find(sign);
  if (first.kind == Token::Kind::value && op != kOps.end()) {
    const auto before = str("the op stands before its operands: `", op->second, " %", first.text, ", %");
    if (second.kind == Token::Kind::value) return std::move(error).help(str(before, second.text, "`"));
    if (second.kind == Token::Kind::integer || second.kind == Token::Kind::real) {
      const auto x = p.scope.values.find(first.text);
      const bool is_known = x != p.scope.values.end() && x->second.valid();
      const DType dtype = is_known ? p.type(x->second).dtype : DType::f64;
      return std::move(error).help(str(before, "c`, where a number is a value of its own: `%c = literal ", second.text,
                                       " : ", dtype_name(dtype), "`"));
    }
  }
  return std::move(error).help("a line is one op and its operands: `%z = add %x, %y`");
}

void check_type(Parser& p, const Token& op, ValueId v) {
  const Token start = p.in.peek();
  const TensorType written = p.sizes.type();
  const TensorType& inferred = p.type(v);
  ErrorCode code = ErrorCode::shape_mismatch;
  if (written.dtype != inferred.dtype) {
    code = ErrorCode::wrong_dtype;
  } else if (written.rank() != inferred.rank()) {
    code = ErrorCode::wrong_rank;
  } else if (same_dims(p.builder().graph(), written.dims, inferred.dims)) {
    return;
  }
  throw Error(code, p.in.location(start),
              str(op.text, ": the result is ", p.builder().graph().type_text(inferred), ", not ",
                  p.builder().graph().type_text(written)));
}

void statement(Parser& p, std::vector<Definition>& made) {
  p.scope.location = statement_location(p);
  if (!p.in.at("host_call") && !p.in.at("loop") && !p.in.at("cond")) {
    do made.push_back(p.definition());
    while (p.in.accept(","));
    p.in.expect("=");
  }
  if (p.in.peek().kind != Token::Kind::name) throw no_op(p);
  const Token op = p.in.next();
  p.builder().at(p.scope.location);
  const std::size_t known = p.builder().graph().values.size();
  const std::vector<ValueId> results = results_of(p, op);
  if (results.size() != made.size()) {
    throw Error(ErrorCode::wrong_arity, p.scope.location,
                str(op.text, ": has ", counted(results.size(), "result"), ", and the line names ", made.size()));
  }
  if (!results.empty() && p.in.accept(":")) {
    for (std::size_t i = 0; i == 0 || p.in.accept(","); ++i) {
      if (i == results.size()) p.in.fail_expected("the end of the line");
      check_type(p, op, results[i]);
    }
  }
  p.accept_origin();
  for (std::size_t i = 0; i < results.size(); ++i) {
    p.define(made[i], results[i]);
    // An op that changes nothing gives its operand, which has a name already.
    if (results[i].index >= known && !made[i].name.empty()) p.builder().name(results[i], made[i].name);
  }
}

/// Each on a line of its own, or with `;` between them.
void recovering_statement(Parser& p) {
  std::vector<Definition> made;
  const std::size_t start = p.in.position();
  p.in.begin_line();
  try {
    statement(p, made);
    p.in.end_line();
    if (!p.in.accept(";") && !p.in.peek().first_on_line) p.in.fail_expected("the end of the line");
    return;
  } catch (const FollowUpError&) {
  } catch (const Error& error) {
    p.in.diagnostics().push_back(error.diagnostic());
  }
  p.in.end_line();
  for (const Definition& d : made) p.define(d, ValueId());
  if (!p.in.peek().first_on_line || p.in.position() == start) p.in.skip_line();
  p.in.skip_braces_since(start);  // the whole region
}

}  // namespace

void Parser::statements() {
  in.expect("{");
  while (!in.at("return")) {
    if (in.at("}") || in.peek().kind == Token::Kind::end) in.fail_expected("`return`");
    recovering_statement(*this);
  }
}

Definition Parser::label(std::string_view what) {
  Definition made{in.expect(Token::Kind::value, what), {}};
  if (is_identifier(made.label.text)) made.name = made.label.text;
  if (in.peek().kind == Token::Kind::string) made.name = in.next().text;
  return made;
}

Definition Parser::definition() {
  Definition made = label("a value's name, such as `%x`");
  if (scope.values.contains(made.label.text)) {
    throw Error(ErrorCode::duplicate_name, in.location(made.label), str("%", made.label.text, " is defined twice"))
        .note("first", scope.definitions[made.label.text].text);
  }
  return made;
}

void Parser::define(const Definition& made, ValueId v) {
  scope.values[made.label.text] = v;
  scope.definitions[made.label.text] = in.location(made.label);
}

ValueId Parser::value() {
  if (in.line_is_over() && !in.after_comma()) in.fail_expected("a value, such as `%x`");
  const Token::Kind kind = in.peek().kind;
  if (kind == Token::Kind::integer || kind == Token::Kind::real || in.at("-")) {
    const std::string number = in.at("-") ? str("-", in.peek(1).text) : in.peek().text;
    throw Error(ErrorCode::syntax, in.location(in.peek()), str("expected a value, such as `%x`, found `", number, "`"))
        .help(str("a number is a value of its own: `%c = literal ", number, " : f64`"));
  }
  if (in.at("(")) {
    throw in.expected("a value, such as `%x`").help("operands stand without parentheses: `exp %x`");
  }
  if (kind == Token::Kind::name && is_op(in.peek().text)) {
    throw in.expected("a value, such as `%x`")
        .help(str("each op has a line of its own: `%a = ", in.peek().text, " ...`, and here `%a`"));
  }
  if (kind == Token::Kind::name && scope.values.contains(in.peek().text)) {
    throw in.expected("a value, such as `%x`").help(str("did you mean %", in.peek().text, "?"));
  }
  const Token token = in.expect(Token::Kind::value, "a value, such as `%x`");
  const auto found = scope.values.find(token.text);
  if (found == scope.values.end()) throw unknown(in, token, "value", "%", keys(scope.values));
  if (!found->second.valid()) throw FollowUpError();
  return found->second;
}

std::vector<ValueId> Parser::operands() {
  std::vector<ValueId> values;
  do values.push_back(value());
  while (in.accept(","));
  expect_no_value();
  return values;
}

void Parser::expect_no_value() const {
  if (in.line_is_over() || in.peek().kind != Token::Kind::value) return;
  throw in.expected("`,` or the end of the line").help("commas stand between operands: `add %x, %y`");
}

std::vector<int> Parser::axes() {
  std::vector<int> result;
  in.expect("[");
  in.list("]", [&] { result.push_back(static_cast<int>(signed_integer(in))); });
  return result;
}

void Parser::accept_origin() {
  if (in.accept("at")) in.expect(Token::Kind::string, "where it comes from, in quotes");
}

bool same_dims(const Graph& graph, std::span<const Dim> a, std::span<const Dim> b) {
  const auto same = [&](const Dim& left, const Dim& right) {
    if (same_dim(left, right) != Answer::unknown) return left == right;
    for (const auto& [x, y] : graph.assumptions) {
      if (left - right == x - y || left - right == y - x) return true;
    }
    return false;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

}  // namespace inlay::text
