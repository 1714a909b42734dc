// inlay cache
#include <cstdlib>
#include <iostream>

#include "commands.h"
#include "file/cache_folder.h"
#include "support/str.h"

namespace inlay::tool {
namespace {

int64_t total_bytes(const std::vector<file::CacheEntry>& entries) {
  int64_t total = 0;
  for (const file::CacheEntry& entry : entries) total += entry.size_bytes;
  return total;
}

}  // namespace

int cache(const CacheCommand& command) {
  const std::filesystem::path folder = file::cache_folder();
  if (folder.empty()) {
    std::cout << "no folder: INLAY_CACHE=0, or nothing says where the user's folders are\n";
    return kDone;
  }
  if (std::filesystem::exists(folder) && !std::filesystem::is_directory(folder))
    throw Error(ErrorCode::invalid_file, {}, str(folder.string(), " is no folder: nothing is kept there"));
  if (command.clear) {
    const auto gone = file::trim_cache(folder, 0);
    std::cout << "removed " << gone.size() << " entries of " << total_bytes(gone) << " bytes from " << folder.string()
              << "\n";
    if (const auto left = file::cache_entries(folder); !left.empty())
      throw Error(ErrorCode::invalid_file, {}, str(left.front().path.string(), ": cannot be removed"));
    return kDone;
  }
  const auto limit_bytes = file::given_cache_limit_bytes();
  if (!limit_bytes)
    throw Error(ErrorCode::unknown_name, {},
                str("INLAY_CACHE_SIZE=", std::getenv("INLAY_CACHE_SIZE"),
                    " is neither a number of bytes nor one of K, M or G: what compiles goes by ", file::kCacheBytes));
  const auto entries = file::cache_entries(folder);
  std::cout << "folder   " << folder.string() << "\n"
            << "entries  " << entries.size() << "\n"
            << "bytes    " << total_bytes(entries) << " of " << *limit_bytes << "\n";
  return kDone;
}

}  // namespace inlay::tool
