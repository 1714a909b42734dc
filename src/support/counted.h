#pragma once
// Formats a count of things as text.
#include <cstddef>
#include <string>
#include <string_view>

#include "support/str.h"

namespace inlay {

/// Returns "1 result", "2 results"; `many` is the plural if an s does not make it: "2 indices".
inline std::string counted(std::size_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return str("1 ", one);
  return many.empty() ? str(count, " ", one, "s") : str(count, " ", many);
}

}  // namespace inlay
