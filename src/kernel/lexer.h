#pragma once
// Text of a KernelProgram to tokens. Not the lexer of graphs: here `#0` is a site, and arrows and `$2` are words.
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace inlay::kernel {

struct Token {
  enum class Kind : uint8_t {
    name,         // exp, $2
    reg,          // %3: `text` is "3"
    kernel_name,  // @k0: `text` is "k0"
    site,         // #0: `text` is "0"
    integer,      // 12
    real,         // 1.5, 1e-3
    string,       // "...": `text` is what it stands for
    punctuation,  // one character, or == <= ->
    end,
  };
  Kind kind = Kind::end;
  std::string text;
  int line = 1, column = 1;
};

/// The last token is `end`. Throws Error(syntax) at a character that begins nothing.
std::vector<Token> lex(std::string_view source, std::string_view file_name);

Location location_of(const Token& token, std::string_view file_name);  // "file:3:7"
std::string describe(const Token& token);                              // "`)`", "the end of the text"

}  // namespace inlay::kernel
