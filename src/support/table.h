#pragma once
// Formats text in columns.
#include <string>
#include <vector>

namespace inlay {

/// Returns one line for each row, indented by two, with two spaces between columns.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace inlay
