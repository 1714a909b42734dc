#pragma once
// A cursor over the tokens, with what every rule of a parser needs: look ahead, expect, and say what was found instead.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "text/lexer.h"

namespace inlay::text {

class Cursor {
 public:
  explicit Cursor(Tokens tokens) : source_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens()[std::min(at_ + ahead, tokens().size() - 1)]; }
  const Token& next() {
    const Token& token = peek();
    if (token.kind != Token::Kind::end) ++at_;
    return token;
  }
  /// Is the next token this name or mark?
  bool at(std::string_view text, std::size_t ahead = 0) const {
    const Token& token = peek(ahead);
    return (token.kind == Token::Kind::name || token.kind == Token::Kind::punctuation) && token.text == text;
  }
  bool after_comma() const { return at_ > 0 && tokens()[at_ - 1].text == ","; }
  bool accept(std::string_view text) { return at(text) && (next(), true); }

  void expect(std::string_view text) {
    if (!accept(text)) fail_expected(str("`", text, "`"));
  }
  const Token& expect(Token::Kind kind, std::string_view what) {
    if (peek().kind != kind) fail_expected(what);
    return next();
  }

  /// Reads items between commas up to `close`; there may be none.
  template <class Item>
  void list(std::string_view close, Item item) {
    if (accept(close)) return;
    do item();
    while (accept(","));
    expect(close);
  }

  Location location(const Token& token) const { return location_of(token, source_.file_name); }
  /// Returns the error that `what` was expected here. It points to the statement's own line if the statement ends too
  /// soon.
  Error expected(std::string_view what) const {
    const bool over = line_is_over();
    return {ErrorCode::syntax, over ? end_of_line() : location(peek()),
            str("expected ", what, ", found ", over ? "the end of the line" : describe(peek()))};
  }
  [[noreturn]] void fail_expected(std::string_view what) const { throw expected(what); }

  std::size_t position() const { return at_; }
  void go_to(std::size_t position) { at_ = position; }

  /// Begins a statement on one line, up to `end_line`.
  void begin_line() { line_start_ = at_; }
  void end_line() { line_start_ = kNoLine; }
  /// Has the line ended before the statement?
  bool line_is_over() const { return line_start_ < at_ && peek().first_on_line; }

  /// Skips to the first token of the next line.
  void skip_line() {
    do next();
    while (peek().kind != Token::Kind::end && !peek().first_on_line);
  }

  /// Skips to the first line after every brace that was opened since `start` is closed.
  void skip_braces_since(std::size_t start) {
    int open = 0;
    for (std::size_t seen = start;; skip_line()) {
      for (; seen < at_; ++seen) {
        if (tokens()[seen].kind != Token::Kind::punctuation) continue;
        open += tokens()[seen].text == "{" ? 1 : tokens()[seen].text == "}" ? -1 : 0;
      }
      if (open <= 0 || peek().kind == Token::Kind::end) return;
    }
  }
  std::vector<Diagnostic>& diagnostics() { return source_.diagnostics; }

 private:
  static constexpr std::size_t kNoLine = std::numeric_limits<std::size_t>::max();

  const std::vector<Token>& tokens() const { return source_.tokens; }

  Location end_of_line() const {
    Token last = tokens()[at_ - 1];
    const bool has_sign = last.kind == Token::Kind::value || last.kind == Token::Kind::global;
    last.column += static_cast<int>(last.text.size()) + (has_sign ? 1 : 0);
    return location(last);
  }

  Tokens source_;
  std::size_t at_ = 0;
  std::size_t line_start_ = kNoLine;
};

}  // namespace inlay::text
