#include "file/cache_folder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <system_error>

namespace inlay::file {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kDigits = 32;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

fs::path users_caches() {
  const std::string_view home = variable("HOME");
#ifdef __APPLE__
  if (!home.empty()) return fs::path(home) / "Library" / "Caches";
#elif defined(_WIN32)
  if (const std::string_view local = variable("LOCALAPPDATA"); !local.empty()) return fs::path(local);
#else
  // What is not absolute is to be ignored, says the specification of these folders.
  if (const fs::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg;
  if (!home.empty()) return fs::path(home) / ".cache";
#endif
  return {};
}

/// Behind the digits of an entry's name: `kCacheEnding`, with more where the file is not complete. Empty: another file.
std::string_view ending_of(std::string_view name) {
  const bool has_digits =
      name.size() > kDigits && name.substr(0, kDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
  const std::string_view ending = has_digits ? name.substr(kDigits) : std::string_view();
  const bool is_part = ending.starts_with(std::string(kCacheEnding) + ".") && ending.ends_with(".part");
  return ending == kCacheEnding || is_part ? ending : std::string_view();
}

/// Calls act(path, ending) for the files of the cache in a folder.
template <class Act>
void for_each_file(const fs::path& folder, const Act& act) {
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    const std::string name = at->path().filename().string();
    std::error_code gone;
    const bool is_file = fs::is_regular_file(at->symlink_status(gone));
    if (const std::string_view ending = ending_of(name); is_file && !ending.empty()) act(at->path(), ending);
  }
}

}  // namespace

fs::path cache_folder() {
  std::string_view given = variable("INLAY_CACHE");
  if (given == "0") return {};
  while (given.size() > 1 && given.ends_with('/')) given.remove_suffix(1);  // a path that ends so has an empty name
  // A shell has said what ~ is, but not a program that sets the variable.
  const std::string_view home = variable("HOME");
  if (!home.empty() && given == "~") return home;
  if (!home.empty() && given.starts_with("~/")) return fs::path(home) / given.substr(2);
  if (!given.empty()) return given;
  const fs::path caches = users_caches();
  return caches.empty() ? fs::path() : caches / "inlay";
}

std::optional<int64_t> given_cache_limit_bytes() {
  const std::string_view text = variable("INLAY_CACHE_SIZE");
  if (text.empty()) return kCacheBytes;
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (shift < 0 || number > std::numeric_limits<int64_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

int64_t cache_limit_bytes() { return given_cache_limit_bytes().value_or(kCacheBytes); }

std::vector<CacheEntry> cache_entries(const fs::path& folder) {
  std::vector<CacheEntry> entries;
  for_each_file(folder, [&](const fs::path& path, std::string_view ending) {
    std::error_code gone;
    const auto size = ending == kCacheEnding ? fs::file_size(path, gone) : 0;
    const auto last_used = fs::last_write_time(path, gone);  // who takes an entry sets it
    if (ending == kCacheEnding && !gone) entries.push_back({path, static_cast<int64_t>(size), last_used});
  });
  std::ranges::sort(entries, {}, [](const CacheEntry& e) { return std::pair(e.last_used, e.path); });
  return entries;
}

std::vector<CacheEntry> trim_cache(const fs::path& folder, int64_t limit_bytes) {
  std::error_code failure;
  for_each_file(folder, [&](const fs::path& path, std::string_view ending) {
    if (ending == kCacheEnding) return;
    const auto written = fs::last_write_time(path, failure);
    if (!failure && written < fs::file_time_type::clock::now() - std::chrono::hours(1)) fs::remove(path, failure);
  });
  std::vector<CacheEntry> gone;
  const std::vector<CacheEntry> entries = cache_entries(folder);
  int64_t total = 0;
  for (const CacheEntry& entry : entries) total += entry.size_bytes;
  for (const CacheEntry& entry : entries) {
    if (total <= limit_bytes && limit_bytes > 0) break;
    if (fs::remove(entry.path, failure)) gone.push_back(entry);
    if (!failure) total -= entry.size_bytes;  // another process may have removed it
  }
  return gone;
}

}  // namespace inlay::file
