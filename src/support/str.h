#pragma once
// Text from values: str("dim ", 3, " is ", n). std::format is missing in the oldest supported compiler.
#include <charconv>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

namespace inlay {

/// Appends the text that a stream of the C locale writes; types for which streams are slow have their own way.
template <class T>
void append_text(std::string& text, const T& part) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    text += std::string_view(part);
  } else if constexpr (std::is_integral_v<T> && sizeof(T) > 1) {  // of one byte: bool and characters
    text += std::to_string(part);
  } else if constexpr (std::is_floating_point_v<T>) {
    char digits[40];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, part, std::chars_format::general, 6).ptr);
  } else {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << part;
    text += std::move(out).str();
  }
}

template <class... Parts>
std::string str(const Parts&... parts) {
  std::string text;
  (append_text(text, parts), ...);
  return text;
}

/// "a, b, c" from a range; `show` turns one item into something printable.
template <class Range, class Show>
std::string join(const Range& range, std::string_view separator, Show show) {
  std::string text;
  bool first = true;
  for (const auto& item : range) {
    if (!first) text += separator;
    first = false;
    append_text(text, show(item));
  }
  return text;
}

template <class Range>
std::string join(const Range& range, std::string_view separator) {
  return join(range, separator, [](const auto& item) -> const auto& { return item; });
}

}  // namespace inlay
