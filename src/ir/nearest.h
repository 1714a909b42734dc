#pragma once
// The word that was meant: for the help of "unknown" errors.
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace inlay::text {

/// The candidate that takes the fewest single-character edits to reach; none when every one is too far to be a slip.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// What the text form calls a dtype or an op of NumPy: "f64" for "float64", "sub" for "subtract"; none for other words.
std::optional<std::string> word_for_numpy(std::string_view name);

/// What the text form calls a way to combine: "add" for "sum".
std::optional<std::string> way_for_numpy(std::string_view name);

}  // namespace inlay::text
