#include "text/lexer.h"

#include "support/ascii.h"

namespace inlay::text {
namespace {

bool is_name_start(char c) { return is_letter(c) || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_name_part_of_kernels(char c) { return is_name_part(c) || c == '$'; }

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file_name, Language language)
      : source_(source), kernels_(language == Language::kernels) {
    out_.file_name = file_name;
  }

  Tokens run() && {
    while (skip_blank()) next_token();
    begin(Token::Kind::end);
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void advance() {
    if (source_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
      first_on_line_ = true;
    }
  }

  /// Skips blanks and comments; returns false at the end of the text.
  bool skip_blank() {
    while (at_ < source_.size()) {
      if (peek() == '#' && !at_site()) {
        while (at_ < source_.size() && peek() != '\n') advance();
      } else if (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') {
        advance();
      } else {
        return true;
      }
    }
    return false;
  }

  bool at_site() const { return kernels_ && is_digit(peek(1)); }

  Token& begin(Token::Kind kind) {
    Token token{kind, {}, line_, static_cast<int>(at_ - line_start_) + 1, first_on_line_};
    first_on_line_ = false;
    out_.tokens.push_back(std::move(token));
    return out_.tokens.back();
  }

  void fail(const Token& token, std::string message, std::string help = {}) {
    out_.diagnostics.push_back(
        {ErrorCode::syntax, location_of(token, out_.file_name), std::move(message), {}, std::move(help)});
  }

  template <class Predicate>
  void take_while(Token& token, Predicate wanted) {
    while (at_ < source_.size() && wanted(peek())) take(token);
  }
  void take(Token& token) {
    token.text += peek();
    advance();
  }

  void next_token() {
    const char c = peek();
    if (is_name_start(c) || (kernels_ && c == '$')) return name(begin(Token::Kind::name));
    if (is_digit(c) || (!kernels_ && c == '.' && is_digit(peek(1)))) return number();
    if (c == '"') return string();
    if (c == '%' || c == '@') return sigil(c == '%' ? Token::Kind::value : Token::Kind::global);
    if (c == '#') return sigil(Token::Kind::site);
    Token& token = begin(Token::Kind::punctuation);
    const std::string_view two = source_.substr(at_, 2);
    if (two == "==" || (kernels_ && (two == "<=" || two == "->"))) take(token);
    if (!is_ascii(c)) {
      fail(token, str("`", letter(), "` has no meaning here: names are of ASCII letters, digits and `_`"));
      return void(out_.tokens.pop_back());
    }
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) {
      fail(token, "a character that has no meaning here");
      advance();
      out_.tokens.pop_back();
      return;
    }
    take(token);
  }

  void name(Token& token) { take_while(token, kernels_ ? is_name_part_of_kernels : is_name_part); }

  /// Returns the letter at this position, which has more than one byte.
  std::string letter() {
    std::string bytes;
    do {
      bytes += peek();
      advance();
    } while (at_ < source_.size() && (static_cast<unsigned char>(peek()) & 0xc0) == 0x80);
    return bytes;
  }

  void sigil(Token::Kind kind) {
    Token& token = begin(kind);
    const char sign = peek();
    advance();
    name(token);
    if (at_ < source_.size() && !is_ascii(peek())) {
      const std::string before = token.text, strange = letter();
      fail(token, str("`", sign, before, strange, "`: names are of ASCII letters, digits and `_`"));
      take_while(token, [](char c) { return is_name_part(c) || !is_ascii(c); });
      return;
    }
    if (token.text.empty()) {
      fail(token, str("`", sign, "` without a name"), sign == '@' ? "a matrix product is `matmul %x, %y`" : "");
    }
  }

  void number() {
    Token& token = begin(Token::Kind::integer);
    take_while(token, is_digit);
    if (peek() == '.') {
      token.kind = Token::Kind::real;
      take(token);
      take_while(token, is_digit);
    }
    const bool exponent = peek() == 'e' || peek() == 'E';
    const bool sign = exponent && (peek(1) == '-' || peek(1) == '+');
    if (exponent && is_digit(peek(sign ? 2 : 1))) {
      token.kind = Token::Kind::real;
      take(token);
      if (sign) take(token);
      take_while(token, is_digit);
    }
  }

  void string() {
    Token& token = begin(Token::Kind::string);
    advance();
    while (at_ < source_.size() && peek() != '"' && peek() != '\n') {
      if (peek() != '\\') {
        take(token);
        continue;
      }
      advance();
      const char c = peek();
      if (c == '\0' || c == '\n') break;
      token.text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      advance();
    }
    if (peek() == '"') {
      advance();
    } else {
      fail(token, "the string does not end on its line");
    }
  }

  std::string_view source_;
  bool kernels_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
  bool first_on_line_ = true;
  Tokens out_;
};

}  // namespace

Tokens lex(std::string_view source, std::string_view file_name, Language language) {
  return Lexer(source, file_name, language).run();
}

Location location_of(const Token& token, std::string_view file_name) {
  return {str(file_name, ":", token.line, ":", token.column)};
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end of the text";
    case Token::Kind::string: return "a string";
    case Token::Kind::value: return str("`%", token.text, "`");
    case Token::Kind::global: return str("`@", token.text, "`");
    case Token::Kind::site: return str("`#", token.text, "`");
    case Token::Kind::name:
    case Token::Kind::integer:
    case Token::Kind::real:
    case Token::Kind::punctuation: break;
  }
  return str("`", token.text, "`");
}

bool is_identifier(std::string_view text) {
  if (text.empty() || !is_name_start(text[0])) return false;
  for (char c : text) {
    if (!is_name_part(c)) return false;
  }
  return true;
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace inlay::text
