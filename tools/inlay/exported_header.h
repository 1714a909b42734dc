#pragma once
// The files of an exported program, for inlay explain: all that it reads of them is the plan in the header.
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "explain/memory_table.h"

namespace inlay::tool {

/// Of a path that has an explain::exported_header. Throws Error(invalid-file).
explain::MemoryTable exported_plan(const std::string& path);

/// As `explain` has it of a program.
std::string memory_text(const explain::MemoryTable& map);

/// As `explain_json` has it of a program: `memory`, `notes` and `arena_bytes`.
std::string memory_json(const explain::MemoryTable& map);
nlohmann::ordered_json rows_json(const explain::MemoryTable& map);

}  // namespace inlay::tool
