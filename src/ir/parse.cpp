#include <algorithm>

#include "ir/parser.h"
#include "ir/text.h"

namespace inlay::text {

namespace {

/// A parameter whose dims have other names than those that it is given by.
struct Equated {
  ValueId param;
  std::vector<Dim> dims;
  Location location;
};

void assumption(Parser& p) {
  p.builder().at(p.in.location(p.in.peek()));
  const Dim left = p.sizes.dim();
  p.in.expect("==");
  p.builder().assume_equal(left, p.sizes.dim());
}

void fact(Cursor& in, Facts& facts) {
  if (in.accept("sorted")) {
    facts.sorted = true;
  } else if (in.accept("min")) {
    facts.min = signed_integer(in);
    in.expect(",");
    in.expect("max");
    facts.max = signed_integer(in);
    facts.has_range = true;
  } else {
    in.fail_expected("a fact: `min a, max b` or `sorted`");
  }
}

ValueId param(Parser& p, const std::string& name, const TensorType& type) {
  if (p.in.accept("donated")) return p.builder().donated(name, type);
  if (!p.in.accept("bound")) return p.builder().param(name, type);
  Facts facts;
  if (p.in.accept("{")) p.in.list("}", [&] { fact(p.in, facts); });
  return p.builder().bound(name, type, facts);
}

void param(Parser& p, std::vector<Equated>& equated) {
  const Definition made = p.definition();
  p.in.expect(":");
  const TensorType declared = p.sizes.type(NewSymbols::yes);
  TensorType given{declared.dtype, {}};
  const bool has_given = p.in.accept("given");
  if (has_given) {
    p.in.expect("[");
    p.in.list("]", [&] { given.dims.push_back(p.sizes.dim(NewSymbols::yes)); });
  }
  p.builder().at(p.in.location(made.label));
  const ValueId v = param(p, made.name, has_given ? given : declared);
  p.define(made, v);
  if (has_given) equated.push_back({v, declared.dims, p.in.location(made.label)});
}

void output(Parser& p) {
  std::string name;
  if (p.in.at("=", 1)) {
    const Token& token = p.in.peek();
    if (token.kind != Token::Kind::name && token.kind != Token::Kind::string) p.in.fail_expected("the output's name");
    const auto& outputs = p.builder().graph().outputs;
    if (!token.text.empty() && std::ranges::find(outputs, token.text, &Output::name) != outputs.end()) {
      throw Error(ErrorCode::duplicate_name, p.in.location(token), str("two results are named ", token.text));
    }
    name = p.in.next().text;
    p.in.expect("=");
  }
  try {
    p.builder().output(p.value(), name);
  } catch (const FollowUpError&) {
  }
}

void outputs(Parser& p) {
  p.in.expect("return");
  if (p.in.at("}")) return;
  do output(p);
  while (p.in.accept(","));
}

void graph(Parser& p) {
  p.in.expect("graph");
  p.builder() = GraphBuilder(p.in.expect(Token::Kind::global, "the graph's name, such as `@main`").text);
  if (p.in.accept("[")) {
    p.in.list("]", [&] { p.sizes.symbol(p.in.expect(Token::Kind::name, "a symbol"), NewSymbols::yes); });
  }
  p.in.expect("(");
  std::vector<Equated> equated;
  p.in.list(")", [&] { param(p, equated); });
  if (p.in.accept("assume")) {
    do assumption(p);
    while (p.in.accept(","));
  }
  for (Equated& each : equated) {
    p.builder().at(std::move(each.location));
    p.builder().equate_dims(each.param, std::move(each.dims));
  }
  p.statements();
  outputs(p);
  p.in.expect("}");
  if (p.in.peek().kind != Token::Kind::end) p.in.fail_expected("the end of the text");
}

}  // namespace

}  // namespace inlay::text

namespace inlay {

static ParseResult parse_with(std::string_view text, std::string_view file_name, const FixedSizes& sizes) {
  text::Parser p(text::lex(text, file_name));
  for (const auto& [name, number] : sizes) p.sizes.fix(name, number);
  ParseResult result;
  try {
    text::graph(p);
    // After a statement that is wrong, what it would have bound is bound by nothing: that follows from it.
    if (p.in.diagnostics().empty()) p.sizes.check_bound();
    if (p.in.diagnostics().empty()) result.graph = std::move(p.scope.builder).finish();
  } catch (const Error& error) {
    p.in.diagnostics().push_back(error.diagnostic());
  }
  result.diagnostics = std::move(p.in.diagnostics());
  return result;
}

ParseResult parse_all(std::string_view text, std::string_view file_name) { return parse_with(text, file_name, {}); }

Graph parse(std::string_view text, std::string_view file_name, const FixedSizes& sizes) {
  ParseResult result = parse_with(text, file_name, sizes);
  if (!result.diagnostics.empty()) throw Error(result.diagnostics.front());
  return std::move(*result.graph);
}

}  // namespace inlay
