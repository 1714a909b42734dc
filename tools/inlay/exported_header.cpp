#include "exported_header.h"

#include <nlohmann/json.hpp>

#include "explain/memory_comment.h"
#include "npy.h"

namespace inlay::tool {
explain::MemoryTable exported_plan(const std::string& path) {
  const std::string header = explain::exported_header(path);
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
