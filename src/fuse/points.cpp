#include "fuse/points.h"

#include <algorithm>

#include "ir/hash.h"

namespace inlay::fuse {

using kernel::AccessMap;
using kernel::Subscript;

namespace {

std::size_t hash_of(const AccessMap& at) {
  std::size_t hash = at.subscripts.size();
  for (const Subscript& subscript : at.subscripts) {
    hash = mixed(hash, subscript.base);
    for (const kernel::AxisTerm& term : subscript.axes) {
      hash = mixed(hash, static_cast<uint64_t>(term.axis));
      hash = mixed(hash, term.step);
    }
    if (subscript.index) hash = mixed(hash, uint64_t{subscript.index->index.index});
  }
  return hash;
}

}  // namespace

Point Points::find_or_add(const AccessMap& at) {
  const std::size_t hash = hash_of(at);
  const auto [first, last] = by_hash_.equal_range(hash);
  const auto known = std::find_if(first, last, [&](const auto& entry) { return *entry.second == at; });
  if (known != last) return known->second;
  return by_hash_.emplace(hash, &points_.emplace_back(at))->second;
}

}  // namespace inlay::fuse
