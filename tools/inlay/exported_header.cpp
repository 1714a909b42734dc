#include "exported_header.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "explain/memory_comment.h"
#include "npy.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

std::string header_of(const fs::path& code) {
  std::string name = code.stem().string();
  if (code.extension() == ".so" && name.starts_with("lib")) name.erase(0, 3);
  return (code.parent_path() / (name + ".h")).string();
}

}  // namespace

bool is_exported(const std::string& path) {
  constexpr std::array<std::string_view, 4> kEndings = {".h", ".c", ".o", ".so"};
  return std::ranges::find(kEndings, fs::path(path).extension().string()) != kEndings.end();
}

explain::MemoryTable exported_plan(const std::string& path) {
  const std::string header = fs::path(path).extension() == ".h" ? path : header_of(path);
  return explain::read_memory_comment(read_file(header), header);
}

std::string memory_text(const explain::MemoryTable& map) { return str("# the memory\n", explain::text(map)); }

nlohmann::ordered_json rows_json(const explain::MemoryTable& map) {
  nlohmann::ordered_json out = nlohmann::json::array();
  for (const explain::MemoryRow& row : map.rows) {
    out.push_back({{"step", row.step},
                   {"value", row.value},
                   {"type", row.type},
                   {"storage", row.storage},
                   {"segment", row.segment},
                   {"at", row.at},
                   {"bytes", row.bytes},
                   {"lives", {row.begin, row.end}},
                   {"reason", row.reason}});
  }
  return out;
}

std::string memory_json(const explain::MemoryTable& map) {
  nlohmann::ordered_json out = {{"memory", rows_json(map)}, {"notes", map.notes}, {"arena_bytes", nullptr}};
  if (map.arena_bytes) out["arena_bytes"] = *map.arena_bytes;
  const auto other_bytes = nlohmann::ordered_json::error_handler_t::replace;  // names may be no UTF-8
  return out.dump(2, ' ', false, other_bytes) + "\n";
}

}  // namespace inlay::tool
