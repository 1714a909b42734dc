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

void Parser::captured(std::string_view word, Captured& out) {
  if (!in_.accept_name(word)) return;
  in_.expect("(");
  list(")", [&] {
    out.inside.push_back({in_.expect(Token::Kind::value, "a name in the body, such as `%a`"), {}});
    Definition& made = out.inside.back();
    if (text::is_identifier(made.label.text)) made.name = made.label.text;
    if (in_.peek().kind == Token::Kind::string) made.name = in_.next().text;
    in_.expect("=");
    out.outside.push_back(value());
  });
}

void Parser::expect_new(const Definition& made) const {
  if (values_.contains(made.label.text))
    throw Error(ErrorCode::duplicate_name, in_.location(made.label), str("%", made.label.text, " is defined twice"));
}

/// Values up to a word or the brace.
int Parser::returned() {
  int count = 0;
  if (in_.peek().kind != Token::Kind::value) return count;
  do {
    builder_.output(value());
    ++count;
  } while (in_.accept(","));
  return count;
}

void Parser::accept_origin() {
  if (in_.accept_name("at")) in_.expect(Token::Kind::string, "where it comes from, in quotes");
}

std::vector<ValueId> Parser::cond() {
  const ValueId condition = value();
  Captured in;
  captured("with", in);
  accept_origin();
  Graph then = body(nullptr, 0, in, [&] { returned(); });
  in_.expect_name("else");
  Graph otherwise = body(nullptr, 0, in, [&] { returned(); });
  builder_.at(location_);
  return builder_.cond(condition, in.outside, std::move(then), std::move(otherwise));
}

std::vector<ValueId> Parser::loop() {
  Definition step{in_.expect(Token::Kind::value, "the name of the step, such as `%i`"), {}};
  if (text::is_identifier(step.label.text)) step.name = step.label.text;
  if (in_.peek().kind == Token::Kind::string) step.name = in_.next().text;
  in_.expect("<");
  const Dim count = dim();
  Captured in;
  captured("carry", in);
  const auto num_carried = static_cast<std::ptrdiff_t>(in.outside.size());
  captured("with", in);
  accept_origin();
  Ends ends = Ends::after_count;
  Graph once = body(&step, count, in, [&] {
    if (const int next = returned(); next != num_carried) {
      throw Error(
          ErrorCode::wrong_arity, location_,
          str("loop: carries ", counted(num_carried, "value"), ", and the body returns ", next, " for the next step"));
    }
    if (in_.accept_name("trace")) returned();
    if (!in_.accept_name("while")) return;
    ends = Ends::by_condition;
    builder_.output(value());
  });
  builder_.at(location_);
  const auto split = in.outside.begin() + num_carried;
  return builder_.loop(count, {in.outside.begin(), split}, {split, in.outside.end()}, std::move(once), ends);
}

ValueId Parser::assert_that() {
  const ValueId x = value();
  in_.expect(",");
  const ValueId condition = value();
  in_.expect(",");
  const std::string message = in_.expect(Token::Kind::string, "the message in quotes").text;
  std::vector<ValueId> numbers;
  if (in_.accept("(")) list(")", [&] { numbers.push_back(value()); });
  const ErrorCode code = in_.accept(",") ? error_code() : ErrorCode::assert_failed;
  return builder_.assert_that(x, condition, message, code, std::move(numbers));
}

/// `shape-mismatch`: names with hyphens between them.
ErrorCode Parser::error_code() {
  Token token = in_.expect(Token::Kind::name, "the code of the error");
  while (in_.accept("-")) token.text += "-" + in_.expect(Token::Kind::name, "the code of the error").text;
  std::vector<std::string> known;
  for (int i = 0; i < kNumErrorCodes; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (code_name(code) == token.text) return code;
    known.emplace_back(code_name(code));
  }
  throw unknown(token, "error", "", known);
}

}  // namespace inlay::text
