#include "compiler/layout_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "support/fork_gate.h"
#include "support/stop.h"

namespace inlay {
namespace {

/// The values of all symbols, and the symbols in sizes of a segment. (Others may change between iterations of a loop.)
struct Sizes {
  std::span<const int64_t> symbols;
  std::span<const uint32_t> used;
};

/// A cached layout, as an array of numbers that is read without a lock: a reader that overlaps a writer finds the
/// version changed, and treats the layout as absent.
class Slot {
 public:
  /// Returns the bytes of the arena; -1: it is another layout, or none.
  int64_t read(int64_t segment, const Sizes& sizes, std::span<const uint32_t> storages,
               std::span<int64_t> offsets) const {
    const uint64_t version = version_.load(std::memory_order_acquire);
    if (version % 2 != 0 || version == 0) return -1;
    const std::atomic<int64_t>* at = numbers_.load(std::memory_order_acquire);
    const auto next = [&] { return (at++)->load(std::memory_order_acquire); };
    if (next() != segment) return -1;
    for (uint32_t symbol : sizes.used) {
      if (next() != sizes.symbols[symbol]) return -1;
    }
    const int64_t arena_bytes = next();
    for (uint32_t storage : storages) offsets[storage] = next();
    return version_.load(std::memory_order_relaxed) == version ? arena_bytes : -1;
  }

  /// May be called by one thread at a time.
  void write(int64_t segment, const Sizes& sizes, std::span<const uint32_t> storages, const memory::Layout& layout) {
    if (numbers_ == nullptr) {
      memory_ = std::vector<std::atomic<int64_t>>(2 + sizes.symbols.size() + layout.offset_bytes.size());
      numbers_ = memory_.data();
    }
    std::atomic<int64_t>* at = memory_.data();
    const auto put = [&](int64_t number) { (at++)->store(number, std::memory_order_release); };
    version_.store(version_ + 1, std::memory_order_relaxed);
    put(segment);
    for (uint32_t symbol : sizes.used) put(sizes.symbols[symbol]);
    put(layout.arena_bytes);
    for (uint32_t storage : storages) put(layout.offset_bytes[storage]);
    version_.store(version_ + 1, std::memory_order_release);
  }

  std::atomic<uint64_t> last_use = 0;

 private:
  std::atomic<uint64_t> version_ = 0;  // 0: never written; odd: being written
  std::atomic<const std::atomic<int64_t>*> numbers_ = nullptr;
  std::vector<std::atomic<int64_t>> memory_;
};

class LayoutCache {
 public:
  LayoutCache(runtime::ArenaSpec arena, memory::PlannerOptions options)
      : arena_(std::move(arena)),
        options_(std::move(options)),
        storages_(std::max<std::size_t>(arena_.segment_bytes.size(), 1)),
        used_(storages_.size()) {
    for (const runtime::ArenaSpec::Storage& storage : arena_.storages) {
      const auto segment = static_cast<std::size_t>(storage.segment);
      if (segment >= storages_.size()) continue;
      storages_[segment].push_back(static_cast<uint32_t>(storage.number));
      for (const runtime::SizeItem& item : storage.bytes.items) {
        if (item.kind != runtime::SizeItem::Kind::symbol) continue;
        const auto symbol = static_cast<uint32_t>(item.number);
        std::vector<uint32_t>& used = used_[segment];
        if (std::ranges::find(used, symbol) == used.end()) used.push_back(symbol);
      }
    }
  }

  int64_t answer(int segment, std::span<const int64_t> symbols, std::span<int64_t> offsets) {
    const Sizes sizes{symbols, used_[static_cast<std::size_t>(segment)]};
    if (const int64_t arena_bytes = find(segment, sizes, offsets); arena_bytes >= 0) return arena_bytes;
    const ForkGate::Inside inside;
    // The time that it takes is bounded, and a call that has written may not end here.
    const StopScope unstoppable(kNeverStop);
    // Without the lock: a planner may wait for a lock whose holder waits for this one.
    const memory::Layout layout = memory::plan(options_, storages_to_place(segment, symbols), budget_ms());
    for (uint32_t storage : storages(segment)) offsets[storage] = layout.offset_bytes[storage];
    const std::lock_guard lock(mutex_);
    std::vector<int64_t> ignored(offsets.size());
    if (find(segment, sizes, ignored) >= 0) return layout.arena_bytes;  // another thread was faster
    Slot& oldest = *std::ranges::min_element(slots_, {}, [](const Slot& slot) { return slot.last_use.load(); });
    oldest.write(segment, sizes, storages(segment), layout);
    note_use(oldest);
    return layout.arena_bytes;
  }

 private:
  std::span<const uint32_t> storages(int segment) const { return storages_[static_cast<std::size_t>(segment)]; }

  /// By number; those that are not in this segment have no bytes.
  std::vector<memory::Storage> storages_to_place(int segment, std::span<const int64_t> symbols) const {
    std::vector<memory::Storage> out(static_cast<std::size_t>(arena_.num_storages));
    for (const runtime::ArenaSpec::Storage& storage : arena_.storages) {
      if (storage.segment != segment) continue;
      // n - 1 with n = 0 is not an error here: the program's own checks fail before anything is written.
      const int64_t size = std::max<int64_t>(storage.bytes.evaluate(symbols), 0);
      out[static_cast<std::size_t>(storage.number)] = {
          memory::Owner::arena, {storage.begin, storage.end}, size, storage.alignment_bytes, -1, storage.name};
    }
    return out;
  }

  /// Returns the bytes of the arena; -1: it is not cached. Without a lock, since a repeated call does nothing else.
  int64_t find(int segment, const Sizes& sizes, std::span<int64_t> offsets) {
    const std::size_t first = found_last_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < kMaxLayouts; ++i) {
      const std::size_t at = (first + i) % kMaxLayouts;
      const int64_t arena_bytes = slots_[at].read(segment, sizes, storages(segment), offsets);
      if (arena_bytes < 0) continue;
      if (at != first) found_last_.store(at, std::memory_order_relaxed);
      note_use(slots_[at]);
      return arena_bytes;
    }
    return -1;
  }

  /// Threads may lose each other's ticks: that only evicts another slot.
  void note_use(Slot& slot) {
    const uint64_t now = clock_.load(std::memory_order_relaxed);
    if (slot.last_use.load(std::memory_order_relaxed) == now) return;
    clock_.store(now + 1, std::memory_order_relaxed);
    slot.last_use.store(now + 1, std::memory_order_relaxed);
  }

  /// A call waits for it, perhaps one of many with different sizes, so it is far less than at compile time.
  int64_t budget_ms() const { return options_.planner == memory::Planner::search ? 2 : -1; }

  const runtime::ArenaSpec arena_;
  const memory::PlannerOptions options_;
  std::vector<std::vector<uint32_t>> storages_;  // by segment
  std::vector<std::vector<uint32_t>> used_;      // by segment: symbols in sizes of its storages
  std::array<Slot, kMaxLayouts> slots_;
  std::atomic<std::size_t> found_last_ = 0;
  std::atomic<uint64_t> clock_ = 1;  // a slot that was never used is older
  std::mutex mutex_;                 // of writers, inside the gate
};

}  // namespace

runtime::LayoutFunction layout_function(runtime::ArenaSpec arena, memory::PlannerOptions options) {
  auto cache = std::make_shared<LayoutCache>(std::move(arena), std::move(options));
  return [cache](int segment, std::span<const int64_t> symbols, std::span<int64_t> offsets) {
    return cache->answer(segment, symbols, offsets);
  };
}

}  // namespace inlay
