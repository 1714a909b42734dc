#include "backend/c/text.h"

#include "backend/c/functions.h"
#include "backend/c/header_names.h"
#include "support/ascii.h"
#include "support/comment.h"
#include "support/free_name.h"

namespace inlay::c_backend {
namespace {

constexpr std::size_t kLineLength = 110;

constexpr std::string_view kReserved[] = {
    // The language.
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "asm", "typeof",
    // Of C23, which gcc 15 compiles where it is not told otherwise.
    "alignas", "alignof", "constexpr", "nullptr", "static_assert", "thread_local", "typeof_unqual",
    // What its headers define beside what header_names.h has, and compilers by themselves.
    "complex", "imaginary", "I", "errno", "linux", "unix", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
    "uint16_t", "uint32_t", "uint64_t", "size_t", "memcpy", "memset",
    // Ours.
    "IN_LANES", "PRAGMA", "call", "status", "operands", "results", "sizes", "failure", "operand_dims", "result_dims",
    "operand_strides", "result_strides", "overflows", "main"};

}  // namespace

void Text::add(const std::string& line) {
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + line + "\n";
}

void Text::fail_if(std::string_view condition, std::string_view failure) {
  if (condition.size() + failure.size() <= kLineLength) return line("if (", condition, ") ", failure);
  line("if (", condition, ")");
  line("  ", failure);
}

void Text::comment(std::string_view text) {
  const std::string allowed = comment_text(text);
  text = allowed;
  std::string line = "/*";
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    std::string word(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.size() + word.size() > kLineLength) {
      add(line);
      line = "  ";
    }
    line += " " + word;
  }
  add(line + " */");
}

NameTable::NameTable(For use) : use_(use) {
  for (std::string_view name : kReserved) used_.emplace(name);
  for (std::string_view name : standard_functions()) used_.emplace(name);
  for (const Function& function : functions()) used_.insert(function.name);
}

std::string NameTable::take(std::string_view wanted, std::string_view otherwise) {
  std::string name;
  for (const char c : wanted) name += is_letter(c) || is_digit(c) ? c : '_';
  while (!name.empty() && name.front() == '_') name.erase(0, 1);  // those are the C library's
  if (name.empty() || is_digit(name[0])) name = str(otherwise, name);
  const bool may_be_macro = use_ == For::a_header && is_named_as_macros(name);
  if (is_macro_of_headers(name) || may_be_macro || is_of_runtime(name)) name = str(otherwise, "_", name);
  return free_name(name, [&](const std::string& it) { return used_.insert(it).second; });
}

}  // namespace inlay::c_backend
