#pragma once
// A block of memory between two rows of known bytes: who writes beside it is found out.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/error.h"

namespace inlay::tool {

/// Bytes between two rows of a known pattern. What the block held before is a pattern too: ones, which read as NaN.
class GuardedBlock {
 public:
  explicit GuardedBlock(int64_t size)
      : size_(static_cast<std::size_t>(std::max<int64_t>(size, 0))), bytes_(size_ + 2 * kGuard, kPattern) {
    std::fill_n(begin(), size_, std::byte{0xff});
  }
  std::byte* begin() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data() + kGuard / 2);
    return bytes_.data() + kGuard / 2 + (64 - address % 64) % 64;
  }
  void check(const std::string& name) {
    for (std::byte* at = bytes_.data(); at != bytes_.data() + bytes_.size(); ++at) {
      if (at == begin()) at += size_;
      if (at == bytes_.data() + bytes_.size()) break;
      INLAY_CHECK(*at == kPattern, "a byte beside ", name, " was written");
    }
  }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr std::byte kPattern{0xa5};
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

}  // namespace inlay::tool
