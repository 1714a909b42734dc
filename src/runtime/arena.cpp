#include "runtime/arena.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace inlay::runtime {
namespace {

struct Block {
  std::byte* data = nullptr;
  int64_t size_bytes = 0;
};

/// The free blocks of this thread: a few, since a call takes one for each segment.
class Kept {
 public:
  static constexpr int kMost = 16;

  ~Kept() {
    for (int i = 0; i < count_; ++i) std::free(blocks_[i].data);
  }

  /// Takes the smallest block that is large enough. If there is none, removes the largest: a larger one will replace
  /// it.
  Block take(int64_t size_bytes) {
    int best = -1;
    for (int i = 0; i < count_; ++i) {
      if (blocks_[i].size_bytes >= size_bytes && (best < 0 || blocks_[i].size_bytes < blocks_[best].size_bytes))
        best = i;
    }
    if (best >= 0) return remove(best);
    if (count_ > 0) {
      const auto less = [](const Block& a, const Block& b) { return a.size_bytes < b.size_bytes; };
      std::free(remove(static_cast<int>(std::max_element(blocks_, blocks_ + count_, less) - blocks_)).data);
    }
    return {};
  }

  void keep(Block block) {
    if (count_ < kMost) {
      blocks_[count_++] = block;
    } else {
      std::free(block.data);
    }
  }

 private:
  Block remove(int at) {
    const Block block = blocks_[at];
    blocks_[at] = blocks_[--count_];
    return block;
  }

  Block blocks_[kMost];
  int count_ = 0;
};

thread_local Kept kept;

}  // namespace

ArenaBlock ArenaBlock::borrow(int64_t size_bytes) noexcept {
  if (size_bytes < 0 || size_bytes > std::numeric_limits<int64_t>::max() - kArenaAlignment) return {};
  const int64_t rounded =
      std::max<int64_t>(size_bytes + kArenaAlignment - 1, kArenaAlignment) / kArenaAlignment * kArenaAlignment;
  Block block = kept.take(rounded);
  if (!block.data) {
    block.data = static_cast<std::byte*>(std::aligned_alloc(kArenaAlignment, static_cast<std::size_t>(rounded)));
    block.size_bytes = rounded;
  }
  return {block.data, block.size_bytes};
}

ArenaBlock::~ArenaBlock() {
  if (data_) kept.keep({data_, size_bytes_});
}

}  // namespace inlay::runtime
