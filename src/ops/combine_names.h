#pragma once
// The ways to combine as readers of text forms list them.
#include <span>
#include <string_view>

namespace inlay {

/// By Combine: "set", "add", "mul", "max", "min", "and", "or", "xor".
std::span<const std::string_view> combine_names();

}  // namespace inlay
