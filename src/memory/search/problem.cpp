#include "memory/search/problem.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace inlay::memory::search {
namespace {

constexpr int64_t kMostUnits = int64_t{1} << 62;

bool is_live(const Storage& storage) { return is_placed(storage) && storage.live.begin < storage.live.end; }

/// See Problem::unit_bytes. An alignment that is a divisor of the unit needs no care; another makes the unit smaller.
int64_t unit_of(std::span<const Storage> storages) {
  int64_t alignment = 0, unit = 0, before = -1;
  for (const Storage& storage : storages) {
    if (is_live(storage)) alignment = std::gcd(alignment, storage.alignment_bytes);
  }
  for (const Storage& storage : storages) {
    if (!is_live(storage)) continue;
    unit = std::gcd(unit, round_up(storage.size_bytes, alignment));
    if (storage.is_pinned()) unit = std::gcd(unit, storage.pinned_bytes);
  }
  while (unit != before) {
    before = unit;
    for (const Storage& storage : storages) {
      if (is_live(storage) && unit % storage.alignment_bytes != 0) unit = std::gcd(unit, storage.alignment_bytes);
    }
  }
  return std::max<int64_t>(unit, 1);
}

/// First and last section of each storage that lives; the number of sections.
///
/// A sweep over begins and ends, ends first. A section is closed at an end, if something has begun since the one
/// before.
class Sections {
 public:
  explicit Sections(std::span<const Storage> storages) : first(storages.size()), last(storages.size()) {
    std::vector<std::tuple<int32_t, bool, std::size_t>> events;
    for (std::size_t s = 0; s < storages.size(); ++s) {
      if (!is_live(storages[s])) continue;
      events.emplace_back(storages[s].live.begin, true, s);
      events.emplace_back(storages[s].live.end, false, s);
    }
    std::sort(events.begin(), events.end());
    bool has_begun = false;
    for (const auto& [tick, begins, s] : events) {
      if (!begins && has_begun) ++count;
      has_begun = begins;
      (begins ? first : last)[s] = count;
    }
  }

  std::vector<int32_t> first, last;
  int32_t count = 0;
};

auto key(const Item& item) {
  return std::tuple(item.first, item.last, -item.size, item.size_bytes, item.alignment, item.duration, item.storage);
}

}  // namespace

Problem make_problem(std::span<const Storage> storages) {
  const Sections sections(storages);
  Problem out;
  out.unit_bytes = unit_of(storages);
  out.num_sections = sections.count;
  int64_t total = 0;
  for (uint32_t s = 0; s < storages.size(); ++s) {
    const Storage& storage = storages[s];
    if (!is_placed(storage)) continue;
    if (storage.is_pinned()) {
      out.minimum_bytes = std::max(out.minimum_bytes, add_bytes(storage.pinned_bytes, storage.size_bytes));
    } else if (!is_live(storage)) {
      out.minimum_bytes = std::max(out.minimum_bytes, storage.size_bytes);
    }
    if (!is_live(storage)) continue;
    const int64_t size = round_up(storage.size_bytes, out.unit_bytes) / out.unit_bytes;
    const int64_t alignment = std::max<int64_t>(storage.alignment_bytes / out.unit_bytes, 1);
    total = add_bytes(total, add_bytes(size, alignment));
    if (storage.is_pinned()) {
      const int64_t begin = storage.pinned_bytes / out.unit_bytes;
      out.pins.push_back({sections.first[s], sections.last[s], begin, add_bytes(begin, size)});
      total = add_bytes(total, begin);
    } else {
      out.items.push_back({s, sections.first[s], sections.last[s], size, alignment, storage.size_bytes,
                           int64_t{storage.live.end} - storage.live.begin});
    }
  }
  if (total > kMostUnits) throw Error(ErrorCode::size_overflow, {}, "the working memory does not fit in 64 bits");
  std::sort(out.items.begin(), out.items.end(), [](const Item& a, const Item& b) { return key(a) < key(b); });
  std::sort(out.pins.begin(), out.pins.end(), [](const Pin& a, const Pin& b) { return a.begin < b.begin; });
  return out;
}

std::vector<int64_t> Problem::highest_offsets(int64_t capacity_bytes) const {
  std::vector<int64_t> out;
  out.reserve(items.size());
  for (const Item& item : items) {
    out.push_back(capacity_bytes < item.size_bytes ? -1 : (capacity_bytes - item.size_bytes) / unit_bytes);
  }
  return out;
}

int64_t Problem::arena_bytes(std::span<const int64_t> offsets) const {
  int64_t out = minimum_bytes;
  for (std::size_t i = 0; i < items.size(); ++i) {
    int64_t begin = 0;
    if (__builtin_mul_overflow(offsets[i], unit_bytes, &begin)) add_bytes(INT64_MAX, 1);
    out = std::max(out, add_bytes(begin, items[i].size_bytes));
  }
  return out;
}

Layout Problem::layout(std::span<const int64_t> offsets, std::span<const Storage> storages) const {
  Layout out{.offset_bytes = std::vector<int64_t>(storages.size(), 0), .arena_bytes = arena_bytes(offsets)};
  for (std::size_t s = 0; s < storages.size(); ++s) {
    if (is_placed(storages[s]) && storages[s].is_pinned()) out.offset_bytes[s] = storages[s].pinned_bytes;
  }
  for (std::size_t i = 0; i < items.size(); ++i) out.offset_bytes[items[i].storage] = offsets[i] * unit_bytes;
  return out;
}

}  // namespace inlay::memory::search
