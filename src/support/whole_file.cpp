#include "support/whole_file.h"

#include <atomic>
#include <cerrno>
#include <fstream>
#include <optional>
#include <random>

#include <unistd.h>

#include "support/error.h"
#include "support/str.h"

namespace inlay {

namespace fs = std::filesystem;

namespace {

/// Returns what a file of this name would replace: a plain file, also behind links, or a new one. Nothing if it is a
/// pipe, a device, or unknown.
std::optional<fs::path> to_replace(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::not_found) return path;
  if (status.type() != fs::file_type::regular) return std::nullopt;
  const fs::path file = fs::canonical(path, failure);
  return failure ? std::nullopt : std::optional(file);
}

/// Gives the complete file the name and the permissions of the one that it replaces.
std::error_code replace(const fs::path& old, const fs::path& part) {
  std::error_code has_none, failure;
  const fs::file_status status = fs::status(old, has_none);
  if (fs::exists(status)) fs::permissions(part, status.permissions(), has_none);
  fs::rename(part, old, failure);
  return failure;
}

}  // namespace

std::error_code write_whole_file(const fs::path& path, std::string_view bytes) {
  errno = 0;
  const std::optional<fs::path> old = to_replace(path);
  static std::atomic<int> number = 0;  // of the parts that threads of this process write
  // A name of its own length: that of the file may be the longest that there is. Two machines may share a folder.
  const fs::path part =
      old ? old->parent_path() / str(".inlay.", ::getpid(), ".", ++number, ".", std::random_device()(), ".part")
          : fs::path();
  std::ofstream out(old ? part : path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code failure;
  if (!out) failure = std::error_code(errno ? errno : EIO, std::generic_category());
  if (old && !failure) failure = replace(*old, part);
  std::error_code stays;
  if (old && failure) fs::remove(part, stays);
  return failure;
}

void save_whole_file(const fs::path& path, std::string_view bytes) {
  if (const std::error_code failure = write_whole_file(path, bytes))
    throw Error(ErrorCode::invalid_file, {}, str(path.string(), " cannot be written: ", failure.message()));
}

}  // namespace inlay
