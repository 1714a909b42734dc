#pragma once
// The map of memory as a table: what `inlay explain` prints of a plan, what the header of an exported program has of
// it, and what is read back from there.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/page.h"
#include "support/error.h"

namespace inlay::explain {

/// A value that has bytes.
struct MemoryRow {
  std::string step;     // that is the first to write it: "@k0", "matmul"
  std::string value;    // its name
  std::string type;     // "f64[n, 3]"
  std::string storage;  // "s0": storage 0 of the arena; "out1", "in2": bytes of that result, of that donated parameter
  int segment = 0;      // of memory, whose beginning knows its bytes
  std::string at;       // "64": in the arena, or in its segment's block; "+64": from the beginning of the storage
  std::string bytes;    // "512", "8*n"
  int64_t begin = 0, end = 0;  // the ticks of its life: step s reads at 2s and writes at 2s + 1
  std::string reason;          // "takes over p"; empty: the storage was made for it
  bool operator==(const MemoryRow&) const = default;
};

struct MemoryTable {
  std::optional<int64_t> arena_bytes, lower_bound_bytes;  // none where they depend on sizes
  std::string rest;  // behind these: " for n up to 7"; where there are none: "at most 8*n bytes and alignment"
  int num_segments = 1;
  std::vector<MemoryRow> rows;
  std::vector<std::string> notes;  // copies, what is kept apart, what is not moved
  bool operator==(const MemoryTable&) const = default;
};

std::string text(const MemoryTable& table);

/// What `text` wrote, where no name has two blanks or a line's end. `first_line`: of the text, in the file of that
/// name. Throws Error(invalid-file) that says which line is wrong.
MemoryTable read_memory_table(std::string_view text, const std::string& file_name, int first_line);

/// As the picture of a plan, without what its steps compute. Throws Error(unsupported) where offsets depend on sizes.
Page memory_page(const MemoryTable& table, std::string title);

/// A picture is of numbers.
Error depends_on_sizes();

}  // namespace inlay::explain
