#pragma once
// Working memory of a call. It belongs to the call, never to the code: so any number of threads may run one program.
//
// Each thread keeps the blocks that its calls returned and hands them out again, so a steady state allocates nothing. A
// call that runs inside another (from a host call) finds the outer one's blocks taken and gets its own. Blocks are
// plain memory of the thread, so they are as valid after a fork as before.
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::runtime {

inline constexpr int64_t kArenaAlignment = 64;
inline constexpr int64_t kStackArenaBytes = 32 * 1024;

/// A block on loan from this thread; goes back when this ends. Lives and dies on one thread.
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

  /// At least `size_bytes`, 64-byte aligned, with anything in it. data() is null where there is no memory to be had;
  /// never null otherwise, for 0 bytes too.
  static ArenaBlock borrow(int64_t size_bytes) noexcept;

  std::byte* data() const { return data_; }

 private:
  ArenaBlock(std::byte* data, int64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  std::byte* data_ = nullptr;
  int64_t size_bytes_ = 0;
};

/// Frees what this thread keeps and no call uses.
void release_arena_blocks() noexcept;

}  // namespace inlay::runtime
