#include "kernel/lexer.h"

#include "support/ascii.h"

namespace inlay::kernel {
namespace {

bool begins_name(char c) { return is_letter(c) || c == '_' || c == '$'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file_name) : source_(source), file_name_(file_name) {}

  std::vector<Token> all() {
    std::vector<Token> out;
    do {
      skip_blanks();
      out.push_back(next());
    } while (out.back().kind != Token::Kind::end);
    return out;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  char take() {
    const char c = source_[at_++];
    column_ = c == '\n' ? 1 : column_ + 1;
    line_ += c == '\n';
    return c;
  }

  void skip_blanks() {
    while (at_ < source_.size()) {
      const bool comment = peek() == '#' && !is_digit(peek(1));
      if (!comment && !is_blank(peek())) return;
      if (!comment) {
        take();
        continue;
      }
      while (at_ < source_.size() && peek() != '\n') take();
    }
  }

  Token next() {
    Token token{Token::Kind::end, "", line_, column_};
    const char c = peek();
    if (at_ == source_.size()) return token;
    if (c == '"') return string(token);
    if (begins_name(c)) return word(token, Token::Kind::name);
    if (is_digit(c)) return number(token);
    if (c == '%' && is_digit(peek(1))) return marked(token, Token::Kind::reg);
    if (c == '#') return marked(token, Token::Kind::site);
    if (c == '@' && continues_name(peek(1))) return marked(token, Token::Kind::kernel_name);
    return punctuation(token);
  }

  Token word(Token token, Token::Kind kind) {
    token.kind = kind;
    while (continues_name(peek())) token.text += take();
    return token;
  }

  Token marked(Token token, Token::Kind kind) {
    take();
    return word(token, kind);
  }

  Token number(Token token) {
    token.kind = Token::Kind::integer;
    const auto digits = [&] {
      while (is_digit(peek())) token.text += take();
    };
    digits();
    if (peek() == '.' && is_digit(peek(1))) {
      token.kind = Token::Kind::real;
      token.text += take();
      digits();
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-';
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      token.kind = Token::Kind::real;
      for (std::size_t i = 0; i < 1 + sign; ++i) token.text += take();
      digits();
    }
    return token;
  }

  Token string(Token token) {
    token.kind = Token::Kind::string;
    take();
    while (peek() != '"') {
      if (at_ == source_.size() || peek() == '\n') throw error(token, "this string has no end");
      char c = take();
      if (c == '\\' && at_ < source_.size()) {
        c = take();
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
      }
      token.text += c;
    }
    take();
    return token;
  }

  Token punctuation(Token token) {
    token.kind = Token::Kind::punctuation;
    for (const std::string_view two : {"==", "<=", "->"}) {
      if (source_.substr(at_, 2) != two) continue;
      token.text = {take(), take()};
      return token;
    }
    constexpr std::string_view kKnown = "(){}[],:<=+-*.";
    if (kKnown.find(peek()) == std::string_view::npos) {
      throw error(token, str("`", std::string(1, peek()), "` begins nothing that a kernel program has"));
    }
    token.text = std::string(1, take());
    return token;
  }

  Error error(const Token& token, std::string message) const {
    return Error(ErrorCode::syntax, location_of(token, file_name_), std::move(message));
  }

  std::string_view source_, file_name_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
};

}  // namespace

std::vector<Token> lex(std::string_view source, std::string_view file_name) { return Lexer(source, file_name).all(); }

Location location_of(const Token& token, std::string_view file_name) {
  return {str(file_name, ":", token.line, ":", token.column)};
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end of the text";
    case Token::Kind::string: return "a string";
    case Token::Kind::reg: return str("`%", token.text, "`");
    case Token::Kind::kernel_name: return str("`@", token.text, "`");
    case Token::Kind::site: return str("`#", token.text, "`");
    case Token::Kind::name:
    case Token::Kind::integer:
    case Token::Kind::real:
    case Token::Kind::punctuation: break;
  }
  return str("`", token.text, "`");
}

}  // namespace inlay::kernel
