#include "fuse/points.h"

#include <algorithm>

namespace inlay::fuse {

using kernel::AccessMap;
using kernel::Subscript;

namespace {

std::size_t hash_of(const AccessMap& at) {
  std::size_t hash = at.subscripts.size();
  const auto mix = [&](std::size_t number) { hash = (hash ^ number) * 0x9e3779b97f4a7c15u; };
  for (const Subscript& subscript : at.subscripts) {
    mix(static_cast<std::size_t>(subscript.base.constant_part()));
    mix(subscript.base.terms().size());
    for (const kernel::AxisTerm& term : subscript.axes) {
      mix(static_cast<std::size_t>(term.axis));
      mix(static_cast<std::size_t>(term.step));
    }
    if (subscript.index) mix(subscript.index->index.index);
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
