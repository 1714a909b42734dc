#pragma once
// Splits text into tokens. It knows the form of names, numbers and strings, and nothing of graphs or kernels.
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace inlay::text {

struct Token {
  enum class Kind : uint8_t {
    name,         // exp
    value,        // %x, %3: `text` is without the sign
    global,       // @main: likewise
    site,         // #0: likewise
    integer,      // 12
    real,         // 1.5, 1e-3
    string,       // "...": `text` is what it stands for
    punctuation,  // one character, or two: == <= ->
    end,
  };
  Kind kind = Kind::end;
  std::string text;
  int line = 1, column = 1;
  bool first_on_line = false;  // where parsing resumes after an error
};

struct Tokens {
  std::string file_name;
  std::vector<Token> tokens;  // the last one is `end`
  std::vector<Diagnostic> diagnostics;
};

/// The language of a text. Kernels have sites such as `#0`, names such as `$2`, the marks `<=` and `->`, and an axis
/// after a point, `x.0`, where graphs may have the number `.5`.
enum class Language : uint8_t { graphs, kernels };

/// Splits a text into tokens. `#` begins a comment that reaches to the end of its line.
Tokens lex(std::string_view source, std::string_view file_name, Language language = Language::graphs);

/// "file:3:7"
Location location_of(const Token& token, std::string_view file_name);

/// Returns the name of a token in errors: "`)`", "a string", "the end of the text".
std::string describe(const Token& token);

/// [A-Za-z_][A-Za-z0-9_]*
bool is_identifier(std::string_view text);

/// Returns the text in quotes, with \" \\ \n and \t escaped.
std::string quote(std::string_view text);

}  // namespace inlay::text
