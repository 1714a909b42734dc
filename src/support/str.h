#pragma once
// Text from values: str("dim ", 3, " is ", n). std::format is missing in the oldest supported compiler.
#include <sstream>
#include <string>
#include <string_view>

namespace inlay {

template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

/// "a, b, c" from a range; `show` turns one item into something printable.
template <class Range, class Show>
std::string join(const Range& range, std::string_view separator, Show show) {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : range) {
    if (!first) out << separator;
    first = false;
    out << show(item);
  }
  return std::move(out).str();
}

template <class Range>
std::string join(const Range& range, std::string_view separator) {
  return join(range, separator, [](const auto& item) -> const auto& { return item; });
}

}  // namespace inlay
