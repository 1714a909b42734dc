#pragma once
// What the parser of kernel programs reads everywhere: tokens, names, sizes, places and numbers. parse.cpp puts
// signature and steps together from them.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/lexer.h"

namespace inlay::kernel {

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file_name)
      : file_name_(file_name), tokens_(lex(text, file_name)) {}

 protected:
  // Tokens: from the left to the right.
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token take();
  bool is(std::string_view text) const;
  bool accept(std::string_view text);
  void expect(std::string_view text);
  Token expect(Token::Kind kind, std::string_view wanted);
  Error error(const Token& token, ErrorCode code, std::string message) const;
  Error unexpected(std::string_view wanted) const;

  std::string name(std::string_view wanted) { return expect(Token::Kind::name, wanted).text; }
  std::string string(std::string_view wanted) { return expect(Token::Kind::string, wanted).text; }
  int64_t number(const Token& token) const;
  int64_t integer();
  int small_integer();
  RegisterId reg() { return RegisterId(index_of(Token::Kind::reg, "a register")); }
  SiteId site() { return SiteId(index_of(Token::Kind::site, "a site such as `#0`")); }
  SiteId optional_site() { return peek().kind == Token::Kind::site ? site() : SiteId(); }
  /// Items with commas between them, up to and with `end`.
  template <class Item>
  void list(std::string_view end, Item item) {
    if (accept(end)) return;
    do {
      item();
    } while (accept(","));
    expect(end);
  }

  // Names that must be known.
  BufferId buffer();
  SymbolId symbol();
  DType dtype();
  std::optional<int> axis_named(const Token& token) const;

  // Sizes, places and numbers.
  Dim dim(int depth = 0);
  AccessMap map();
  IndexTerm index_term();
  Literal literal(DType dtype);

  std::string_view file_name_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::unordered_map<std::string, BufferId> buffers_;
  std::unordered_map<std::string, SymbolId> symbols_;
  std::vector<std::string> axes_;  // of the stage that is read, the outer ones first

 private:
  std::size_t index_of(Token::Kind kind, std::string_view wanted);
  Dim dim_term(int depth);
  Dim dim_factor(int depth);
  Subscript subscript();
  void subscript_term(Subscript& out, int64_t sign);
};

}  // namespace inlay::kernel
