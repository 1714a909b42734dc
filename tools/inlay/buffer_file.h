#pragma once
// A planning problem as a CSV file: what has to lie somewhere, and when.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "memory/layout.h"

namespace inlay::tool {

/// One row: `size` bytes that are needed at the times [lower, upper).
struct BufferRow {
  std::string id;
  int64_t lower = 0, upper = 0, size = 0;
  int64_t alignment = 1;
  int64_t offset = -1;  // where it must lie; -1: anywhere
  int line = 0;         // in the file
};

/// A header with the columns id, lower, upper and size, in any order, and, if wanted, alignment and offset (empty: not
/// pinned); then a line for each buffer. Fields may stand in double quotes, lines may end in CR LF.
/// Throws Error(invalid-file) with the line and what is wrong there.
std::vector<BufferRow> parse_buffers(std::string_view text, const std::string& path);
std::vector<BufferRow> read_buffers(const std::string& path);

/// What a planner sees. Times that do not fit in 32 bits become their ranks.
std::vector<memory::Storage> storages_of(const std::vector<BufferRow>& rows);

}  // namespace inlay::tool
