#pragma once
// What the parser of kernel programs reads everywhere: tokens, names, sizes, places and numbers. Kernels are put
// together from them (kernel_reader.h), and from those and the steps between them a program (parser.h).
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernel/kernel.h"
#include "text/cursor.h"

namespace inlay::kernel {

using text::Token;

class TextReader : protected text::Cursor {
 public:
  TextReader(std::string_view text, std::string_view file_name);

 protected:
  Error error(const Token& token, ErrorCode code, std::string message) const {
    return {code, location(token), std::move(message)};
  }

  std::string name(std::string_view wanted) { return expect(Token::Kind::name, wanted).text; }
  std::string string(std::string_view wanted) { return expect(Token::Kind::string, wanted).text; }
  int64_t number(const Token& token) const;
  int64_t integer();
  int small_integer();
  RegisterId reg() { return RegisterId(index_of(Token::Kind::value, "a register")); }
  SiteId site() { return SiteId(index_of(Token::Kind::site, "a site such as `#0`")); }
  SiteId optional_site() { return peek().kind == Token::Kind::site ? site() : SiteId(); }

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
