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

const AccessMap* Points::find_or_add(const AccessMap& at) {
  std::vector<const AccessMap*>& alike = by_hash_[hash_of(at)];
  const auto known = std::ranges::find_if(alike, [&](const AccessMap* point) { return *point == at; });
  if (known != alike.end()) return *known;
  alike.push_back(&points_.emplace_back(at));
  return alike.back();
}

}  // namespace inlay::fuse
