#include "memory/layout.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace inlay::memory {
namespace {

std::string range_text(std::span<const Storage> storages, std::size_t at, int64_t offset) {
  return str(storage_text(storages, at), " [", offset, ", ", offset + storages[at].size_bytes, ")");
}

Diagnostic wrong(std::string message) { return {ErrorCode::internal, {}, std::move(message), {}, {}}; }

}  // namespace

std::string storage_text(std::span<const Storage> storages, std::size_t at) {
  const std::string& name = storages[at].name;
  return name.empty() ? str("storage ", at) : str(name, " (storage ", at, ")");
}

int64_t add_bytes(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out))
    throw Error(ErrorCode::size_overflow, {}, "the working memory does not fit in 64 bits");
  return out;
}

int64_t round_up(int64_t offset, int64_t alignment) { return add_bytes(offset, alignment - 1) / alignment * alignment; }

std::string_view planner_name(Planner planner) { return kPlannerNames[static_cast<std::size_t>(planner)]; }

Planner planner_named(std::string_view name, std::string_view said_by) {
  const auto found = std::ranges::find(kPlannerNames, name);
  if (found == std::end(kPlannerNames)) {
    throw Error(ErrorCode::unknown_name, {}, str(said_by, "=", name, ": there is no such planner"))
        .help("the planners are naive, greedy, search and max");
  }
  return static_cast<Planner>(found - std::begin(kPlannerNames));
}

namespace {

class LiveBytes {
 public:
  explicit LiveBytes(std::span<const Storage> storages) : storages_(storages) {
    for (std::size_t s = 0; s < storages.size(); ++s) {
      if (!is_placed(storages[s]) || storages[s].live.begin >= storages[s].live.end) continue;
      step_ = std::gcd(step_, storages[s].alignment_bytes);
      events_.push_back({storages[s].live.begin, true, s});
      events_.push_back({storages[s].live.end, false, s});
    }
    std::sort(events_.begin(), events_.end());
  }

  /// Every storage begins at a multiple of `step_`, so each of the storages that live together takes its size rounded
  /// up; only the topmost may omit its last bytes.
  int64_t most() {
    std::multiset<int64_t> slack;  // of the storages that are live
    int64_t live = 0, most = 0;
    for (const Event& event : events_) {
      const int64_t size = storages_[event.storage].size_bytes, rounded = round_up(size, step_);
      if (event.begins) {
        live = add_bytes(live, rounded);
        slack.insert(rounded - size);
        most = std::max(most, live - *slack.rbegin());
      } else {
        live -= rounded;
        slack.erase(slack.find(rounded - size));
      }
    }
    return most;
  }

 private:
  struct Event {
    int32_t tick;
    bool begins;
    std::size_t storage;
    bool operator<(const Event& other) const {  // ends come before beginnings
      return tick != other.tick ? tick < other.tick : begins != other.begins ? !begins : storage < other.storage;
    }
  };
  std::span<const Storage> storages_;
  std::vector<Event> events_;
  int64_t step_ = 0;
};

}  // namespace

int64_t lower_bound_bytes(std::span<const Storage> storages) {
  int64_t minimum = LiveBytes(storages).most();
  for (const Storage& storage : storages) {
    if (!is_placed(storage)) continue;
    minimum = std::max(minimum, add_bytes(storage.is_pinned() ? storage.pinned_bytes : 0, storage.size_bytes));
  }
  return minimum;
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
    if (size < 0) out.push_back(wrong(str(storage_text(storages, a), " has ", size, " bytes")));
    if (begin < 0) out.push_back(wrong(str(range_text(storages, a, begin), " begins before the arena")));
    if (begin > layout.arena_bytes || size > layout.arena_bytes - begin) {
      out.push_back(
          wrong(str(range_text(storages, a, begin), " ends after the arena's ", layout.arena_bytes, " bytes")));
    }
    if (begin % storages[a].alignment_bytes != 0) {
      out.push_back(wrong(str(range_text(storages, a, begin), " is not aligned to ", storages[a].alignment_bytes)));
    }
    if (is_placed(storages[a]) && storages[a].is_pinned() && begin != storages[a].pinned_bytes) {
      out.push_back(wrong(str(range_text(storages, a, begin), " is pinned to ", storages[a].pinned_bytes)));
    }
    if (!is_placed(storages[a])) continue;
    for (std::size_t b = a + 1; b < storages.size(); ++b) {
      const int64_t other = layout.offset_bytes[b], other_size = storages[b].size_bytes;
      if (!is_placed(storages[b]) || !meet(storages[a].live, storages[b].live)) continue;
      if (begin >= other + other_size || other >= begin + size) continue;
      out.push_back(wrong(str(range_text(storages, a, begin), " and ", range_text(storages, b, other),
                              " are both live at tick ", std::max(storages[a].live.begin, storages[b].live.begin))));
    }
  }
  return out;
}

}  // namespace inlay::memory
