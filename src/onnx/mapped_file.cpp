#include "onnx/mapped_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.h"

namespace inlay::onnx {
namespace {

[[noreturn]] void fail(const std::string& path, const char* why) {
  throw Error(ErrorCode::invalid_file, {}, str(path, " cannot be read: ", why));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) fail(path, std::strerror(errno));
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Bytes map_file(const std::string& path) {
  const Descriptor file(path);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(path, S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) fail(path, std::strerror(errno));
  std::shared_ptr<const void> owner(memory, [size](const void* p) { munmap(const_cast<void*>(p), size); });
  return {owner, {static_cast<const std::byte*>(memory), size}};
}

}  // namespace inlay::onnx
