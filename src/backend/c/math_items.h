#pragma once
// The vector math (backend/llvm/math) in one lane: its headers are C99 as they stand, cut here into their parts, so
// that a program has of them what it uses.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::c_backend {

struct Part {  // a function, a table, a type, a macro, or what an #if chooses between
  std::string name;
  std::string text;
};

/// In the order of `source`. Types of lanes are the numbers themselves: double for vd.
std::vector<Part> math_parts(std::string_view source);

/// `text` with `instead` of each word of C.
std::string with_words(std::string_view text, const std::function<std::string(std::string_view)>& instead);

/// The words of C in `text`.
std::vector<std::string> words_of(std::string_view text);

}  // namespace inlay::c_backend
