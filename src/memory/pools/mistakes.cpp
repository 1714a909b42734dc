// What can be wrong with buffers that somebody wrote down.
#include <algorithm>
#include <map>
#include <set>

#include "memory/pools/problem.h"

namespace inlay::memory::pools {
namespace {

/// Each buffer by itself.
std::string wrong_numbers(const Buffer& b) {
  if (b.upper < b.lower) return str(b.name, " ends at ", b.upper, ", before it begins at ", b.lower);
  if (b.size < 0) return str("size ", b.size, " of ", b.name, " is negative");
  if (b.alignment < 1) return str("alignment ", b.alignment, " of ", b.name, " is less than 1");
  if (b.cost && *b.cost < 0) return str("cost ", *b.cost, " of ", b.name, " is negative");
  if (!b.offset) return "";
  const int64_t offset = *b.offset;
  if (offset < 0) return str("offset ", offset, " of ", b.name, " is negative");
  if (b.base.empty() && offset % b.alignment != 0)
    return str("offset ", offset, " of ", b.name, " is no multiple of its alignment, ", b.alignment);
  if (b.size > INT64_MAX - offset) return str("offset and size of ", b.name, " do not fit in 63 bits");
  return "";
}

class MistakeFinder {
 public:
  MistakeFinder(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools)
      : buffers_(buffers), pools_(pools) {}

  std::optional<Mistake> find() {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (std::string wrong = wrong_numbers(buffers_[b]); !wrong.empty()) return Mistake{b, std::move(wrong)};
      if (!by_name_.emplace(buffers_[b].name, b).second)
        return Mistake{b, str("there are two buffers ", buffers_[b].name)};
    }
    for (std::size_t b = 0; b < buffers_.size() && !found_; ++b) check_base(b);
    if (!found_) check_chains();
    if (found_) return found_;
    roots_ = roots_of(buffers_);
    check_places_in_roots();
    for (std::size_t b = 0; b < buffers_.size() && !found_; ++b) check_pools(b);
    if (found_) return found_;
    std::vector<int64_t> times;
    const std::vector<Lifetime> live = lives_of(buffers_, times);
    check_pins(lives_of_groups(live));
    if (!found_) check_sums(live, times);
    return found_;
  }

 private:
  void note(std::size_t buffer, std::string message) { found_ = Mistake{buffer, std::move(message)}; }

  void check_base(std::size_t b) {
    const Buffer& buffer = buffers_[b];
    if (buffer.base.empty()) return;
    const auto base = by_name_.find(buffer.base);
    if (base == by_name_.end()) return note(b, str("base ", buffer.base, " of ", buffer.name, " is no buffer"));
    const Buffer& in = buffers_[base->second];
    const int64_t begin = buffer.offset.value_or(0);
    if (begin > in.size || buffer.size > in.size - begin)
      return note(b, str(buffer.name, " ends at ", begin + buffer.size, " in its base ", in.name, ", which has ",
                         in.size, in.size == 1 ? " byte" : " bytes"));
    if (buffer.entry != in.entry && !in.entry.empty())
      return note(b, str(buffer.name, " lies in ", in.name, ", which another entry point has for itself"));
    if (!buffer.pools.empty() && buffer.pools != in.pools)
      note(b, str(buffer.name, " lies in ", in.name, ", whose pools it has"));
  }

  void check_chains() {
    std::vector<std::size_t> seen_from(buffers_.size(), buffers_.size());  // by buffer: where the walk began
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      std::size_t at = b;
      for (; seen_from[at] == buffers_.size(); at = by_name_.at(buffers_[at].base)) {
        seen_from[at] = b;
        if (buffers_[at].base.empty()) break;
      }
      if (seen_from[at] == b && !buffers_[at].base.empty()) return note(at, str(buffers_[at].name, " lies in itself"));
    }
  }

  /// A base that lies in another one, or is pinned, need not be aligned as what lies in it asks.
  void check_places_in_roots() {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const Buffer &buffer = buffers_[b], &root = buffers_[roots_[b].buffer];
      const int64_t in_root = roots_[b].offset_bytes, in_pool = in_root + root.offset.value_or(0);
      if (in_root % buffer.alignment != 0)
        return note(b, str(buffer.name, " begins at ", in_root, " in ", root.name,
                           ", which is no multiple of its alignment, ", buffer.alignment));
      if (in_pool % buffer.alignment != 0)
        return note(b, str(buffer.name, " begins at ", in_pool, ", since ", root.name, " is pinned to ",
                           root.offset.value_or(0), ": no multiple of its alignment, ", buffer.alignment));
    }
  }

  void check_pools(std::size_t b) {
    std::set<std::string> seen;
    for (const std::string& pool : buffers_[b].pools) {
      if (pool.empty()) return note(b, str("a pool of ", buffers_[b].name, " has no name"));
      if (!seen.insert(pool).second) return note(b, str("pool ", pool, " of ", buffers_[b].name, " is named twice"));
      const auto same = [&](const Pool& known) { return known.name == pool; };
      if (pools_.empty() || std::ranges::any_of(pools_, same)) continue;
      std::string known;
      for (const Pool& p : pools_)
        known += str(known.empty() ? "" : ", ", p.name.empty() ? "one without a name" : p.name);
      return note(b, str("pool ", pool, " of ", buffers_[b].name, " is not among the pools: ", known));
    }
  }

  /// By root: when it or what lies in it is needed.
  std::vector<Lifetime> lives_of_groups(std::vector<Lifetime> live) const {
    for (std::size_t b = 0; b < buffers_.size(); ++b) extend(live[roots_[b].buffer], live[b]);
    return live;
  }

  /// Two that must lie on the same bytes at the same time.
  void check_pins(std::span<const Lifetime> live) {
    const std::vector<std::size_t> pool = first_pools(buffers_, pools_);
    std::vector<std::size_t> pinned;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const Buffer& buffer = buffers_[b];
      if (!buffer.offset || buffer.size == 0 || !buffer.base.empty()) continue;
      for (std::size_t o : pinned) {
        const Buffer& other = buffers_[o];
        const int64_t begin = *buffer.offset, end = begin + buffer.size;
        const bool bytes_meet = begin < *other.offset + other.size && *other.offset < end;
        if (!bytes_meet || !meet(live[b], live[o]) || pool[b] != pool[o]) continue;
        return note(b, str(buffer.name, " is pinned to [", begin, ", ", end, "), where ", other.name,
                           " lies at the same time"));
      }
      pinned.push_back(b);
    }
  }

  /// What lives together must fit in 63 bits.
  void check_sums(std::span<const Lifetime> live, std::span<const int64_t> times) {
    std::vector<std::size_t> by_begin, by_end;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (live[b].begin < live[b].end && buffers_[b].base.empty()) by_begin.push_back(b);
    }
    by_end = by_begin;
    std::ranges::stable_sort(by_begin, {}, [&](std::size_t b) { return live[b].begin; });
    std::ranges::stable_sort(by_end, {}, [&](std::size_t b) { return live[b].end; });
    int64_t sum = 0;
    auto dead = by_end.begin();
    for (std::size_t b : by_begin) {
      while (live[*dead].end <= live[b].begin) sum -= buffers_[*dead++].size;
      if (__builtin_add_overflow(sum, buffers_[b].size, &sum)) {
        return note(b, str("the sizes of what lives at ", times[static_cast<std::size_t>(live[b].begin)],
                           " do not fit in 63 bits together"));
      }
    }
  }

  const std::vector<Buffer>& buffers_;
  const std::vector<Pool>& pools_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<Root> roots_;  // once the bases are sound
  std::optional<Mistake> found_;
};

}  // namespace

std::optional<Mistake> find_mistake(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools) {
  return MistakeFinder(buffers, pools).find();
}

}  // namespace inlay::memory::pools
