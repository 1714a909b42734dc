#include "compiler/layout_cache.h"

#include <algorithm>
#include <list>
#include <mutex>

namespace inlay {
namespace {

struct Entry {
  int segment;
  std::vector<int64_t> symbols;
  memory::Layout layout;
};

class LayoutCache {
 public:
  LayoutCache(memory::Sharing sharing, memory::PlannerOptions options)
      : sharing_(std::move(sharing)), options_(std::move(options)) {}

  int64_t answer(int segment, std::span<const int64_t> symbols, std::span<int64_t> offsets) {
    {
      const std::lock_guard lock(mutex_);
      if (const memory::Layout* kept = find(segment, symbols)) return give(segment, *kept, offsets);
    }
    // Not under the lock: a planner may be a function that waits for one that somebody has who waits for ours.
    memory::Layout layout = memory::plan(options_, storages_of_segment(sharing_, segment, symbols), budget_ms());
    const int64_t arena_bytes = give(segment, layout, offsets);
    const std::lock_guard lock(mutex_);
    if (find(segment, symbols) == nullptr) {  // nobody else was faster
      entries_.push_front({segment, {symbols.begin(), symbols.end()}, std::move(layout)});
      if (entries_.size() > kMaxLayouts) entries_.pop_back();
    }
    return arena_bytes;
  }

 private:
  using StorageId = memory::StorageId;

  /// Null: it is not kept. The one used last stands first.
  const memory::Layout* find(int segment, std::span<const int64_t> symbols) {
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
      return entry.segment == segment && std::ranges::equal(entry.symbols, symbols);
    });
    if (found == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return &found->layout;
  }

  int64_t give(int segment, const memory::Layout& layout, std::span<int64_t> offsets) const {
    for (StorageId s : ids<StorageId>(sharing_.storages.size())) {
      if (sharing_.storages[s].segment == segment) offsets[s.index] = layout.offset_bytes[s.index];
    }
    return layout.arena_bytes;
  }

  /// A call waits for it, perhaps one of many with sizes of their own: far less than when a program is compiled.
  int64_t budget_ms() const { return options_.planner == memory::Planner::search ? 2 : -1; }

  const memory::Sharing sharing_;
  const memory::PlannerOptions options_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace

runtime::LayoutFunction layout_function(memory::Sharing sharing, memory::PlannerOptions options) {
  auto cache = std::make_shared<LayoutCache>(std::move(sharing), std::move(options));
  return [cache](int segment, std::span<const int64_t> symbols, std::span<int64_t> offsets) {
    return cache->answer(segment, symbols, offsets);
  };
}

}  // namespace inlay
