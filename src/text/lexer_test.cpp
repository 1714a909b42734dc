#include "text/lexer.h"

#include <gtest/gtest.h>

namespace inlay::text {
namespace {

/// Each token as an error names it, and what is wrong with the text.
std::string read(std::string_view source, Language language) {
  const Tokens read = lex(source, "f", language);
  std::string out;
  for (const Token& token : read.tokens) out += describe(token) + (token.first_on_line ? "| " : " ");
  for (const Diagnostic& problem : read.diagnostics) out += str(problem.location.text, ": ", problem.message);
  return out;
}

TEST(Lexer, GraphsHaveCommentsWhereKernelsHaveSites) {
  EXPECT_EQ(read("%x = f # 1\n#0 2\n@g", Language::graphs), "`%x`| `=` `f` `@g`| the end of the text ");
  EXPECT_EQ(read("%3 = f # 1\n#0 2\n@k", Language::kernels), "`%3`| `=` `f` `#0`| `2` `@k`| the end of the text ");
}

TEST(Lexer, APointBeginsANumberOfGraphsAndAPlaceOfKernels) {
  EXPECT_EQ(read("x.0", Language::graphs), "`x`| `.0` the end of the text ");
  EXPECT_EQ(read("x.0", Language::kernels), "`x`| `.` `0` the end of the text ");
  EXPECT_EQ(read("1.5e-3 2e", Language::kernels), "`1.5e-3`| `2` `e` the end of the text ");
}

TEST(Lexer, MarksOfTwoCharactersAndNames) {
  EXPECT_EQ(read("a<=b->c==d $2", Language::graphs),
            "`a`| `<` `=` `b` `-` `>` `c` `==` `d` `$` `2` the end of the text ");
  EXPECT_EQ(read("a<=b->c==d $2", Language::kernels), "`a`| `<=` `b` `->` `c` `==` `d` `$2` the end of the text ");
}

TEST(Lexer, GoesOnBehindWhatIsWrong) {
  EXPECT_EQ(read("a \"b\nc", Language::kernels),
            "`a`| a string `c`| the end of the text f:1:3: the string does not end on its line");
  EXPECT_EQ(read("a \x01 b", Language::graphs),
            "`a`| `b` the end of the text f:1:3: a character that has no meaning here");
}

}  // namespace
}  // namespace inlay::text
