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

ParseResult Parser::run() {
  ParseResult result;
  try {
    graph();
    check_symbols();
    if (in_.diagnostics().empty()) result.graph = std::move(builder_).finish();
  } catch (const Error& error) {
    in_.diagnostics().push_back(error.diagnostic());
  }
  result.diagnostics = std::move(in_.diagnostics());
  return result;
}

void Parser::graph() {
  in_.expect_name("graph");
  builder_ = GraphBuilder(in_.expect(Token::Kind::global, "the graph's name, such as `@main`").text);
  if (in_.accept("[")) {
    list("]", [&] { symbol(in_.expect(Token::Kind::name, "a symbol"), NewSymbols::yes); });
  }
  in_.expect("(");
  list(")", [&] { param(); });
  if (in_.accept_name("assume")) {
    do assumption();
    while (in_.accept(","));
  }
  for (Equated& each : equated_) {
    builder_.at(std::move(each.location));
    builder_.equate_dims(each.param, std::move(each.dims));
  }
  statements();
  outputs();
  in_.expect("}");
  if (in_.peek().kind != Token::Kind::end) in_.fail_expected("the end of the text");
}

void Parser::statements() {
  in_.expect("{");
  while (!in_.at_name("return")) {
    if (in_.at_punctuation("}") || in_.peek().kind == Token::Kind::end) in_.fail_expected("`return`");
    recovering_statement();
  }
}

void Parser::assumption() {
  builder_.at(in_.location(in_.peek()));
  const Dim left = dim();
  in_.expect("==");
  builder_.assume_equal(left, dim());
}

void Parser::outputs() {
  in_.expect_name("return");
  if (in_.at_punctuation("}")) return;
  do output();
  while (in_.accept(","));
}

void Parser::output() {
  std::string name;
  if (in_.at_punctuation("=", 1)) {
    const Token& token = in_.peek();
    if (token.kind != Token::Kind::name && token.kind != Token::Kind::string) in_.fail_expected("the output's name");
    const auto& outputs = builder_.graph().outputs;
    if (!token.text.empty() && std::ranges::find(outputs, token.text, &Output::name) != outputs.end()) {
      throw Error(ErrorCode::duplicate_name, in_.location(token), str("two results are named ", token.text));
    }
    name = in_.next().text;
    in_.expect("=");
  }
  try {
    builder_.output(value(), name);
  } catch (const FollowUpError&) {
  }
}

/// After a statement that is wrong, what it would have bound is bound by nothing: that follows from it.
void Parser::check_symbols() {
  if (!in_.diagnostics().empty()) return;
  for (const auto& [name, entry] : symbols_) {
    if (builder_.graph().symbols[entry.dim.as_symbol()].source.valid()) continue;
    throw undefined_size(entry.location, name);
  }
}

void Parser::param() {
  const Definition made = definition();
  in_.expect(":");
  const TensorType declared = type(NewSymbols::yes);
  TensorType given{declared.dtype, {}};
  const bool has_given = in_.accept_name("given");
  if (has_given) {
    in_.expect("[");
    list("]", [&] { given.dims.push_back(dim(NewSymbols::yes)); });
  }
  builder_.at(in_.location(made.label));
  const ValueId v = param(made.name, has_given ? given : declared);
  define(made, v);
  if (has_given) equated_.push_back({v, declared.dims, in_.location(made.label)});
}

ValueId Parser::param(const std::string& name, const TensorType& type) {
  if (in_.accept_name("donated")) return builder_.donated(name, type);
  if (!in_.accept_name("bound")) return builder_.param(name, type);
  Facts facts;
  if (in_.accept("{")) list("}", [&] { fact(facts); });
  return builder_.bound(name, type, facts);
}

void Parser::fact(Facts& facts) {
  if (in_.accept_name("sorted")) {
    facts.sorted = true;
  } else if (in_.accept_name("min")) {
    facts.least = signed_integer();
    in_.expect(",");
    in_.expect_name("max");
    facts.greatest = signed_integer();
    facts.has_range = true;
  } else {
    in_.fail_expected("a fact: `min a, max b` or `sorted`");
  }
}

Definition Parser::definition() {
  Definition made{in_.expect(Token::Kind::value, "a value's name, such as `%x`"), {}};
  if (text::is_identifier(made.label.text)) made.name = made.label.text;
  if (in_.peek().kind == Token::Kind::string) made.name = in_.next().text;
  if (values_.contains(made.label.text)) {
    throw Error(ErrorCode::duplicate_name, in_.location(made.label), str("%", made.label.text, " is defined twice"))
        .note("first", definitions_[made.label.text].text);
  }
  return made;
}

void Parser::define(const Definition& made, ValueId v) {
  values_[made.label.text] = v;
  definitions_[made.label.text] = in_.location(made.label);
}

ValueId Parser::value() {
  if (in_.line_is_over() && !in_.after_comma()) in_.fail_expected("a value, such as `%x`");
  const Token::Kind kind = in_.peek().kind;
  if (kind == Token::Kind::integer || kind == Token::Kind::real || in_.at_punctuation("-")) {
    const std::string number = in_.at_punctuation("-") ? str("-", in_.peek(1).text) : in_.peek().text;
    throw Error(ErrorCode::syntax, in_.location(in_.peek()),
                str("expected a value, such as `%x`, found `", number, "`"))
        .help(str("a number is a value of its own: `%c = literal ", number, " : f64`"));
  }
  if (in_.at_punctuation("(")) {
    throw in_.expected("a value, such as `%x`").help("operands stand without parentheses: `exp %x`");
  }
  if (kind == Token::Kind::name && is_op(in_.peek().text)) {
    throw in_.expected("a value, such as `%x`")
        .help(str("each op has a line of its own: `%a = ", in_.peek().text, " ...`, and here `%a`"));
  }
  if (kind == Token::Kind::name && values_.contains(in_.peek().text)) {
    throw in_.expected("a value, such as `%x`").help(str("did you mean %", in_.peek().text, "?"));
  }
  const Token token = in_.expect(Token::Kind::value, "a value, such as `%x`");
  const auto found = values_.find(token.text);
  if (found == values_.end()) throw unknown(token, "value", "%", keys(values_));
  if (!found->second.valid()) throw FollowUpError();
  return found->second;
}

Error Parser::unknown(const Token& token, std::string_view what, std::string_view sign,
                      const std::vector<std::string>& known, ErrorCode code) const {
  Error error(code, in_.location(token), str("there is no ", what, " ", sign, token.text));
  const auto of_numpy = text::word_for_numpy(token.text);
  const bool fits = of_numpy && std::ranges::find(known, of_numpy->substr(0, of_numpy->find(' '))) != known.end();
  const auto guess = fits ? of_numpy : text::nearest(token.text, known);
  return guess ? std::move(error).help(str("did you mean ", sign, *guess, "?")) : error;
}

}  // namespace inlay::text

namespace inlay {

ParseResult parse_all(std::string_view text, std::string_view file_name) {
  return text::Parser(text::lex(text, file_name)).run();
}

Graph parse(std::string_view text, std::string_view file_name) {
  ParseResult result = parse_all(text, file_name);
  if (!result.diagnostics.empty()) throw Error(result.diagnostics.front());
  return std::move(*result.graph);
}

}  // namespace inlay
