#include "support/whole_file.h"

#include <atomic>
#include <cerrno>
#include <optional>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.h"
#include "support/str.h"

namespace inlay {

namespace fs = std::filesystem;

namespace {

/// A link, also to what is not there, leads on.
fs::path end_of_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code failure;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, failure)); ++i) {
    const fs::path next = fs::read_symlink(path, failure);
    if (failure) break;
    path = path.parent_path() / next;  // `next` alone where it is absolute
  }
  return path;
}

/// What a file of this name would replace: a plain file, also behind links, or a new one.
struct Replaced {
  fs::path path;
  std::optional<fs::perms> rights;  // of a new file, nothing
};

/// Nothing if it is a pipe, a device, or unknown.
std::optional<Replaced> to_replace(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (status.type() == fs::file_type::not_found) return Replaced{end_of_links(path), {}};
  if (status.type() != fs::file_type::regular) return std::nullopt;
  const fs::path file = fs::canonical(path, failure);
  return failure ? std::nullopt : std::optional(Replaced{file, status.permissions()});
}

std::error_code last_error() { return {errno ? errno : EIO, std::generic_category()}; }

std::error_code write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return last_error();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Opens a file, which is made if `flags` say so, writes into it and closes it. `rights`: those that it is to have
/// before it has a byte, whatever the umask.
std::error_code write_file(const fs::path& path, int flags, std::optional<fs::perms> rights, std::string_view bytes) {
  constexpr mode_t kOfNewFiles = 0666;
  const mode_t mode = rights ? static_cast<mode_t>(*rights) : kOfNewFiles;
  errno = 0;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
  if (file < 0) return last_error();
  if (rights) (void)::fchmod(file, mode);  // some file systems have none
  const std::error_code failure = write_all(file, bytes);
  if (::close(file) != 0 && !failure) return last_error();
  return failure;
}

}  // namespace

std::error_code write_whole_file(const fs::path& path, std::string_view bytes) {
  const std::optional<Replaced> old = to_replace(path);
  if (!old) return write_file(path, O_TRUNC, {}, bytes);
  static std::atomic<int> number = 0;  // of the parts that threads of this process write
  // A name of its own length: that of the file may be the longest that there is. Two machines may share a folder.
  const fs::path part =
      old->path.parent_path() / str(".inlay.", ::getpid(), ".", ++number, ".", std::random_device()(), ".part");
  std::error_code failure = write_file(part, O_EXCL, old->rights, bytes);
  if (!failure) fs::rename(part, old->path, failure);
  std::error_code stays;
  if (failure) fs::remove(part, stays);
  return failure;
}

void save_whole_file(const fs::path& path, std::string_view bytes) {
  if (const std::error_code failure = write_whole_file(path, bytes))
    throw Error(ErrorCode::invalid_file, {}, str(path.string(), " cannot be written: ", failure.message()));
}

}  // namespace inlay
