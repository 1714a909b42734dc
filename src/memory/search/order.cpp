#include "memory/search/order.h"

#include <algorithm>
#include <bit>

#include "support/error.h"

namespace inlay::memory::search {
namespace {

struct Keys {
  std::array<double, 3> keys;
  int32_t item;
  bool operator<(const Keys& other) const {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (keys[k] != other.keys[k]) return keys[k] > other.keys[k];
    }
    return item < other.item;
  }
};

/// In [0, 1), the same for the same three.
double noise(uint32_t seed, int32_t item, std::size_t key) {
  uint64_t bits = (uint64_t{seed} << 32 | static_cast<uint32_t>(item)) * 4 + key;
  for (int round = 0; round < 2; ++round) bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

double value_of(Key key, const Item& item, const RangeMax& crowd, int32_t section_begin) {
  switch (key) {
    case Key::duration: return static_cast<double>(item.duration);
    case Key::area: return static_cast<double>(item.duration) * static_cast<double>(item.size);
    case Key::size: return static_cast<double>(item.size);
    case Key::crowd:
      return static_cast<double>(crowd(static_cast<std::size_t>(item.first - section_begin),
                                       static_cast<std::size_t>(item.last - section_begin)));
  }
  return 0;
}

}  // namespace

std::vector<int64_t> section_loads(const Problem& problem) {
  std::vector<int64_t> out(static_cast<std::size_t>(problem.num_sections) + 1, 0);
  const auto add = [&](int32_t first, int32_t last, int64_t size) {
    out[static_cast<std::size_t>(first)] += size;
    out[static_cast<std::size_t>(last)] -= size;
  };
  for (const Item& item : problem.items) add(item.first, item.last, item.size);
  for (std::size_t s = 1; s < out.size(); ++s) out[s] += out[s - 1];
  out.pop_back();
  return out;
}

void RangeMax::assign(std::span<const int64_t> values) {
  const auto num_levels = static_cast<std::size_t>(std::bit_width(values.size()));
  levels_.resize(std::max<std::size_t>(num_levels, 1));
  levels_[0].assign(values.begin(), values.end());
  for (std::size_t k = 1; k < num_levels; ++k) {
    const std::size_t half = std::size_t{1} << (k - 1);
    levels_[k].resize(values.size() + 1 - 2 * half);
    for (std::size_t i = 0; i < levels_[k].size(); ++i)
      levels_[k][i] = std::max(levels_[k - 1][i], levels_[k - 1][i + half]);
  }
}

int64_t RangeMax::operator()(std::size_t begin, std::size_t end) const {
  const int bits = std::bit_width(end - begin);
  INLAY_CHECK(bits > 0, "nothing lives in ", begin, " to ", end);
  const auto k = static_cast<std::size_t>(bits - 1);
  return std::max(levels_[k][begin], levels_[k][end - (std::size_t{1} << k)]);
}

void rank(std::span<Ranked> items, const Problem& problem, const Order& order, std::span<const int64_t> loads,
          int32_t section_begin) {
  static thread_local RangeMax crowd;  // kept for their memory: small parts are ranked very often
  static thread_local std::vector<Keys> keys;
  crowd.assign(loads);
  keys.clear();
  for (const Ranked& one : items) {
    const Item& item = problem.items[static_cast<std::size_t>(one.item)];
    Keys& out = keys.emplace_back(Keys{{}, one.item});
    for (std::size_t k = 0; k < order.keys.size(); ++k) {
      out.keys[k] = value_of(order.keys[k], item, crowd, section_begin);
      if (order.seed != 0) out.keys[k] *= 1 + 0.2 * noise(order.seed, one.item, k);
    }
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) items[i] = {keys[i].item, static_cast<int32_t>(i)};
}

std::vector<Ranked> ranked(const Problem& problem, const Order& order) {
  std::vector<Ranked> out;
  for (std::size_t i = 0; i < problem.items.size(); ++i) out.push_back({static_cast<int32_t>(i), 0});
  rank(out, problem, order, section_loads(problem), 0);
  return out;
}

}  // namespace inlay::memory::search
