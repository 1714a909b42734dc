#include "memory/layout.h"

#include <algorithm>

#include "support/error.h"

namespace inlay::memory {
namespace {

bool is_placed(const Storage& storage) { return storage.owner == Owner::arena && storage.size_bytes > 0; }

std::string range_text(std::size_t storage, int64_t offset, int64_t size) {
  return str("storage ", storage, " [", offset, ", ", offset + size, ")");
}

Diagnostic wrong(std::string message) { return {ErrorCode::internal, {}, std::move(message), {}, {}}; }

}  // namespace

int64_t add_bytes(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out))
    throw Error(ErrorCode::size_overflow, {}, "the working memory does not fit in 64 bits");
  return out;
}

int64_t round_up(int64_t offset, int64_t alignment) { return add_bytes(offset, alignment - 1) / alignment * alignment; }

Layout plan_naive(std::span<const Storage> storages) {
  Layout layout{.offset_bytes = std::vector<int64_t>(storages.size(), 0)};
  for (std::size_t s = 0; s < storages.size(); ++s) {
    if (!is_placed(storages[s])) continue;
    layout.offset_bytes[s] = round_up(layout.arena_bytes, storages[s].alignment_bytes);
    layout.arena_bytes = add_bytes(layout.offset_bytes[s], storages[s].size_bytes);
  }
  layout.lower_bound_bytes = lower_bound_bytes(storages);
  return layout;
}

Layout plan(Planner planner, std::span<const Storage> storages) {
  switch (planner) {
    case Planner::naive: return plan_naive(storages);
    case Planner::greedy: return plan_greedy(storages);
  }
  return plan_naive(storages);
}

// Every storage begins at a multiple of the least alignment m, so each of those that live together keeps a range of
// round_up(size, m) for itself; only the topmost may leave its last bytes out.
int64_t lower_bound_bytes(std::span<const Storage> storages) {
  struct Event {
    int32_t tick;
    bool begins;
    std::size_t storage;
    bool operator<(const Event& other) const {
      return tick != other.tick ? tick < other.tick : begins != other.begins ? !begins : storage < other.storage;
    }
  };
  int64_t least_alignment = 0;
  std::vector<Event> events;
  for (std::size_t s = 0; s < storages.size(); ++s) {
    const Storage& storage = storages[s];
    if (!is_placed(storage) || storage.live.begin >= storage.live.end) continue;
    least_alignment = least_alignment ? std::min(least_alignment, storage.alignment_bytes) : storage.alignment_bytes;
    events.push_back({storage.live.begin, true, s});
    events.push_back({storage.live.end, false, s});
  }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> slack;  // of those that live now
  int64_t live = 0, most = 0;
  for (const Event& event : events) {
    const int64_t size = storages[event.storage].size_bytes;
    const int64_t rounded = round_up(size, least_alignment);
    if (event.begins) {
      live = add_bytes(live, rounded);
      slack.push_back(rounded - size);
      most = std::max(most, live - *std::max_element(slack.begin(), slack.end()));
    } else {
      live -= rounded;
      slack.erase(std::find(slack.begin(), slack.end(), rounded - size));
    }
  }
  return most;
}

std::vector<Diagnostic> verify(const Layout& layout, std::span<const Storage> storages) {
  std::vector<Diagnostic> out;
  if (layout.offset_bytes.size() != storages.size()) {
    out.push_back(wrong(str("offsets of ", layout.offset_bytes.size(), " storages, but there are ", storages.size())));
    return out;
  }
  for (std::size_t a = 0; a < storages.size(); ++a) {
    const int64_t begin = layout.offset_bytes[a], size = storages[a].size_bytes;
    if (storages[a].owner != Owner::arena) continue;
    if (size < 0) out.push_back(wrong(str("storage ", a, " has ", size, " bytes")));
    if (begin < 0) out.push_back(wrong(str(range_text(a, begin, size), " begins before the arena")));
    if (begin > layout.arena_bytes || size > layout.arena_bytes - begin) {
      out.push_back(wrong(str(range_text(a, begin, size), " ends after the arena's ", layout.arena_bytes, " bytes")));
    }
    if (begin % storages[a].alignment_bytes != 0) {
      out.push_back(wrong(str(range_text(a, begin, size), " is not aligned to ", storages[a].alignment_bytes)));
    }
    if (!is_placed(storages[a])) continue;
    for (std::size_t b = a + 1; b < storages.size(); ++b) {
      const int64_t other = layout.offset_bytes[b], other_size = storages[b].size_bytes;
      if (!is_placed(storages[b]) || !meet(storages[a].live, storages[b].live)) continue;
      if (begin >= other + other_size || other >= begin + size) continue;
      out.push_back(wrong(str(range_text(a, begin, size), " and ", range_text(b, other, other_size),
                              " are both live at tick ", std::max(storages[a].live.begin, storages[b].live.begin))));
    }
  }
  return out;
}

}  // namespace inlay::memory
