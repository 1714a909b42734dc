#pragma once
// The folder in which compiled functions stay from one process to the next (docs/file.md, "The cache"). Who writes them
// and takes them is the API that compiled them; here is where they lie, and how many may.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace inlay::file {

inline constexpr int64_t kCacheBytes = int64_t{512} << 20;  // at most, where INLAY_CACHE_SIZE does not say

/// INLAY_CACHE, in which ~/ is the user's folder, or `inlay` in the user's folder for caches. Empty where there is
/// none: INLAY_CACHE=0, or nothing says where the user's folders are.
std::filesystem::path cache_folder();

/// INLAY_CACHE_SIZE, a number of bytes, or of K, M or G of them; kCacheBytes where it is not set. None: it is no such
/// number.
std::optional<int64_t> given_cache_limit_bytes();

/// The same, and kCacheBytes for what is no such number: compiling is not the place to say so.
int64_t cache_limit_bytes();

/// The ending of an entry's name, behind 32 digits of the hash of its key.
inline constexpr const char* kCacheEnding = ".inlayfn";

struct CacheEntry {
  std::filesystem::path path;
  int64_t size_bytes = 0;
  std::filesystem::file_time_type last_used;
};

/// The entries of a folder, the longest unused first; none of a folder that cannot be read. Other files are none.
std::vector<CacheEntry> cache_entries(const std::filesystem::path& folder);

/// Removes the longest unused entries until the rest has at most `limit_bytes`, and what writers that were killed an
/// hour ago left half done. Returns the entries that are gone. What cannot be removed stays, and is no error.
std::vector<CacheEntry> trim_cache(const std::filesystem::path& folder, int64_t limit_bytes);

}  // namespace inlay::file
