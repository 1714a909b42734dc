#pragma once
// The text of a page that is no layout: style, script, and numbers as people read them.
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::explain {

extern const char* const kPageHead;
extern const char* const kPageStyle;
extern const char* const kPageScript;  // shows what the mouse is over, and marks all that lies in its storage

/// As text of HTML and as an attribute; characters that turn the direction of what follows are replaced.
std::string escaped(const std::string& text);

/// To a hundredth; the same in every locale.
std::string coordinate(double value);

/// "12 bytes", "1.5 KiB", "32 KiB": with at most one place.
std::string bytes_text(int64_t bytes);
/// "32 KiB (32768 bytes)"
std::string exact_bytes(int64_t bytes);

/// Some five multiples of a power of two from 0 to `most`, and `most` if it lies apart from them.
std::vector<int64_t> byte_ticks(int64_t most);
/// Some ten numbers from `begin` to `end`, in equal steps.
std::vector<int64_t> number_ticks(int64_t begin, int64_t end);

/// Of UTF-8.
std::size_t characters_in(const std::string& text);
std::string first_characters(const std::string& text, std::size_t count);

}  // namespace inlay::explain
