#pragma once
// Numbers from text and text from numbers, always with a point: <cstdlib>, <cstdio> and streams write and read numbers
// as the process's locale has them, and round as its floating-point environment does. Whatever host sets those, a
// program means the same.
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace inlay {

/// What the whole of `text` says, "inf" and "nan" too, rounded to nearest; beyond f64 an infinity or a zero of its
/// sign. Nothing where it is no number.
std::optional<double> number_of(std::string_view text);

/// As short as reads back the same: "0.1", "1e+300", "3".
template <class T>
std::string number_text(T value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// With that many places: fixed_text(2.5, 2) is "2.50".
std::string fixed_text(double value, int places);

}  // namespace inlay
