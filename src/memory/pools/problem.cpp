#include "memory/pools/problem.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace inlay::memory::pools {
namespace {

/// What a planner can count in. Times beyond become their ranks.
bool are_ticks(const std::vector<int64_t>& times) {
  return times.empty() || (times.front() >= INT32_MIN / 2 && times.back() <= INT32_MAX / 2);
}

std::vector<int64_t> times_of(const std::vector<Buffer>& buffers, std::span<const std::size_t> of) {
  std::vector<int64_t> out;
  for (std::size_t b : of) {
    out.push_back(buffers[b].lower);
    out.push_back(buffers[b].upper);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

int32_t rank(const std::vector<int64_t>& times, int64_t time) {
  return static_cast<int32_t>(std::ranges::lower_bound(times, time) - times.begin());
}

/// By entry point, in the order in which they are named first, the buffers that it has for itself.
std::vector<std::vector<std::size_t>> by_entry(const std::vector<Buffer>& buffers) {
  std::vector<std::vector<std::size_t>> out;
  std::unordered_map<std::string, std::size_t> number;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].entry.empty()) continue;
    const auto [at, is_new] = number.emplace(buffers[b].entry, out.size());
    if (is_new) out.emplace_back();
    out[at->second].push_back(b);
  }
  return out;
}

std::vector<Lifetime> lives_without_entries(const std::vector<Buffer>& buffers, std::vector<int64_t>& times) {
  std::vector<std::size_t> all(buffers.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  times = times_of(buffers, all);
  std::vector<Lifetime> out;
  for (const Buffer& b : buffers) out.push_back({rank(times, b.lower), rank(times, b.upper)});
  return out;
}

/// The pools that there are, and by buffer where it may lie.
class PoolNames {
 public:
  PoolNames(const std::vector<Buffer>& buffers, const std::vector<Pool>& given) : pools_(given) {
    for (const Pool& pool : given) number_.emplace(pool.name, number_.size());
    for (const Buffer& b : buffers) {
      for (const std::string& name : b.pools) number_of(name);
    }
    if (pools_.empty() && !buffers.empty()) number_of("");
    for (std::size_t i = 0; i < pools_.size(); ++i) all_.push_back(i);
  }

  std::vector<std::size_t> of(const Buffer& b) {
    if (b.pools.empty()) return all_;
    std::vector<std::size_t> out;
    for (const std::string& name : b.pools) out.push_back(number_of(name));
    return out;
  }

  std::vector<Pool> take() { return std::move(pools_); }

 private:
  std::size_t number_of(const std::string& name) {
    const auto [at, is_new] = number_.emplace(name, number_.size());
    if (is_new) pools_.push_back({.name = name});
    return at->second;
  }

  std::vector<Pool> pools_;
  std::vector<std::size_t> all_;
  std::unordered_map<std::string, std::size_t> number_;
};

int64_t common_multiple(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a / std::gcd(a, b), b, &out))
    throw Error(ErrorCode::size_overflow, {},
                str("the alignments ", a, " and ", b, " have no common multiple in 63 bits"));
  return out;
}

/// What lies in a group makes it live longer, and its alignment stricter.
void add_to(Group& group, const Buffer& buffer, const Lifetime& live) {
  extend(group.storage.live, live);
  group.storage.alignment_bytes = common_multiple(group.storage.alignment_bytes, buffer.alignment);
  if (!buffer.base.empty() && __builtin_add_overflow(group.cost, buffer.cost.value_or(0), &group.cost))
    group.cost = INT64_MAX;
}

}  // namespace

std::vector<Lifetime> lives_of(const std::vector<Buffer>& buffers, std::vector<int64_t>& times) {
  const std::vector<std::vector<std::size_t>> entries = by_entry(buffers);
  if (entries.empty()) return lives_without_entries(buffers, times);
  std::vector<Lifetime> out(buffers.size());
  int32_t begin = 0;
  for (const std::vector<std::size_t>& entry : entries) {
    const std::vector<int64_t> own = times_of(buffers, entry);
    for (std::size_t b : entry) out[b] = {begin + rank(own, buffers[b].lower), begin + rank(own, buffers[b].upper)};
    begin += static_cast<int32_t>(own.size());
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].entry.empty()) out[b] = {0, begin};
  }
  times.resize(static_cast<std::size_t>(begin) + 1);
  std::iota(times.begin(), times.end(), 0);
  return out;
}

std::vector<std::size_t> first_pools(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools) {
  PoolNames names(buffers, pools);
  std::vector<std::size_t> out;
  for (const Buffer& b : buffers) out.push_back(names.of(b)[0]);
  return out;
}

void extend(Lifetime& all, const Lifetime& live) {
  if (live.begin >= live.end) return;
  all = all.begin < all.end ? Lifetime{std::min(all.begin, live.begin), std::max(all.end, live.end)} : live;
}

std::vector<Root> roots_of(const std::vector<Buffer>& buffers) {
  std::unordered_map<std::string, std::size_t> by_name;
  for (std::size_t b = 0; b < buffers.size(); ++b) by_name.emplace(buffers[b].name, b);
  std::vector<std::optional<Root>> known(buffers.size());
  std::vector<std::size_t> chain;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    chain.clear();
    std::size_t at = b;
    for (; !known[at] && !buffers[at].base.empty(); at = by_name.at(buffers[at].base)) chain.push_back(at);
    if (!known[at]) known[at] = Root{at, 0};
    for (Root root = *known[at]; !chain.empty(); chain.pop_back()) {
      root.offset_bytes += buffers[chain.back()].offset.value_or(0);
      known[chain.back()] = root;
    }
  }
  std::vector<Root> out;
  for (const std::optional<Root>& root : known) out.push_back(*root);
  return out;
}

Problem make_problem(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools) {
  Problem out;
  out.live = lives_of(buffers, out.times);
  if (are_ticks(out.times) && by_entry(buffers).empty()) {  // planners of one's own see the times as they were given
    for (Lifetime& live : out.live) {
      live = {static_cast<int32_t>(out.times[static_cast<std::size_t>(live.begin)]),
              static_cast<int32_t>(out.times[static_cast<std::size_t>(live.end)])};
    }
    out.times.clear();
  }
  PoolNames names(buffers, pools);
  const std::vector<Root> roots = roots_of(buffers);
  std::vector<std::size_t> group_of_root(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (roots[b].buffer != b) continue;
    const Buffer& buffer = buffers[b];
    group_of_root[b] = out.groups.size();
    out.groups.push_back({.storage = {.live = {},
                                      .size_bytes = buffer.size,
                                      .alignment_bytes = 1,
                                      .pinned_bytes = buffer.offset.value_or(-1),
                                      .name = buffer.name},
                          .pools = names.of(buffer),
                          .cost = buffer.cost.value_or(buffer.size)});
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const std::size_t group = group_of_root[roots[b].buffer];
    out.group_of.push_back(group);
    out.offset_in_group.push_back(roots[b].offset_bytes);
    add_to(out.groups[group], buffers[b], out.live[b]);
  }
  for (Group& group : out.groups) {
    if (group.storage.live.begin >= group.storage.live.end) group.storage.size_bytes = 0;  // it is never needed
  }
  out.pools = names.take();
  return out;
}

}  // namespace inlay::memory::pools
