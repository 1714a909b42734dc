#pragma once
// Working memory of a call. It belongs to the call, never to the code, so any number of threads may run one program.
//
// Each thread keeps the blocks that its calls returned and reuses them, so a steady state allocates nothing. A call
// inside another (from a host call) finds the outer one's blocks in use and gets its own. Blocks are plain memory of
// the thread, so they stay valid after a fork.
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::runtime {

inline constexpr int64_t kArenaAlignment = 64;
inline constexpr int64_t kStackArenaBytes = 32 * 1024;

/// A block borrowed from this thread and returned on destruction. It must stay on one thread.
class ArenaBlock {
 public:
  ArenaBlock() = default;
  ~ArenaBlock();
  ArenaBlock(ArenaBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_bytes_(other.size_bytes_) {}
  ArenaBlock& operator=(ArenaBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }

  /// Borrows a block of at least `size_bytes`, 64-byte aligned, uninitialized. data() is null if there is no memory,
  /// and never null otherwise, also for 0 bytes.
  static ArenaBlock borrow(int64_t size_bytes) noexcept;

  std::byte* data() const { return data_; }

 private:
  ArenaBlock(std::byte* data, int64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  std::byte* data_ = nullptr;
  int64_t size_bytes_ = 0;
};

}  // namespace inlay::runtime
