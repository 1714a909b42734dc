#pragma once
// A planning problem as a file, CSV or JSON: what has to lie somewhere, and when.
#include <string>
#include <string_view>
#include <vector>

#include "memory/pools/pools.h"

namespace inlay::tool {

struct BufferFile {
  std::vector<memory::pools::Buffer> buffers;
  std::vector<memory::pools::Pool> pools;  // of JSON only
  std::string path;
  std::vector<int> lines;  // by buffer, of CSV only
};

/// CSV: a header with the columns id, lower, upper and size, in any order, and, if wanted, alignment, offset (empty:
/// not pinned), base, pool ("fast|slow": the best first), cost and entry; then a line for each buffer. Fields may stand
/// in double quotes, lines may end in LF, CR LF or CR. JSON (what begins with a brace or a bracket): an object with
/// "buffers", a list of objects with these names, and, if wanted, "pools", a list of objects with name and capacity; or
/// the list of buffers alone. Members of other names are wrong, but for those of a plan. Throws Error(invalid-file)
/// with the line, or the number of the buffer, and what is wrong there: what each says by itself.
BufferFile parse_buffers(std::string_view text, const std::string& path);
BufferFile read_buffers(const std::string& path);

/// Throws the same for what is wrong with the buffers together, and in these pools.
void check(const BufferFile& file, const std::vector<memory::pools::Pool>& pools);

BufferFile parse_json_buffers(std::string_view text, const std::string& path);

}  // namespace inlay::tool
