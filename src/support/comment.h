#pragma once
#include <string>
#include <string_view>

namespace inlay {

/// What a comment of C may have: nothing in it ends the comment, begins another (of which compilers warn) or ends a
/// line.
inline std::string comment_text(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  for (const std::string_view mark : {"*/", "/*"}) {
    for (std::size_t at; (at = out.find(mark)) != std::string::npos;) out.insert(at + 1, " ");
  }
  return out;
}

}  // namespace inlay
