#include "fuse/piece.h"

#include <iterator>

namespace inlay::fuse {

Loop loop_over(std::span<const Dim> dims) {
  Loop loop;
  for (const Dim& dim : dims) {
    kernel::Subscript subscript;
    if (!dim.is(1)) {
      subscript.axes.push_back({static_cast<int>(loop.axes.size()), 1});
      loop.axes.push_back(dim);
    }
    loop.at.subscripts.push_back(std::move(subscript));
  }
  return loop;
}

void pass_from_end(Loop& loop, std::size_t dim) {
  kernel::Subscript& at = loop.at.subscripts[dim];
  if (at.axes.empty()) return;
  at.base = loop.axes[static_cast<std::size_t>(at.axes.front().axis)] - 1;
  at.axes.front().step = -1;
}

const char* axis_name(std::size_t axis) {
  constexpr const char* kNames[] = {"i", "j", "k", "l", "m", "n", "o", "p"};
  return axis < std::size(kNames) ? kNames[axis] : "q";
}

bool Write::asks_like(const Write& other) const {
  const auto parts = [](const Write& w) {
    return std::tie(w.kind, w.fold, w.state, w.map, w.value, w.at, w.defines, w.converted, w.running, w.runs, w.along,
                    w.onto, w.predicate, w.selection, w.target);
  };
  const auto index_parts = [](const WriteIndex& i) { return std::tie(i.dim, i.array, i.at, i.step, i.extent); };
  return parts(*this) == parts(other) &&
         std::ranges::equal(indices, other.indices,
                            [&](const WriteIndex& a, const WriteIndex& b) { return index_parts(a) == index_parts(b); });
}

}  // namespace inlay::fuse
