#pragma once
// Converts between numbers and text, always with a decimal point. <cstdlib>, <cstdio> and streams use the locale of the
// process, and round as its floating-point environment does. A program must mean the same whatever the host sets.
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace inlay {

/// Returns the number that all of `text` is, "inf" and "nan" too, rounded to nearest; beyond f64 an infinity or a zero
/// of its sign. Nothing if it is not a number.
std::optional<double> number_of(std::string_view text);

/// Returns the shortest text that reads back as the same number: "0.1", "1e+300", "3".
template <class T>
std::string number_text(T value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Formats a number with this many decimal places: fixed_text(2.5, 2) is "2.50".
std::string fixed_text(double value, int places);

}  // namespace inlay
