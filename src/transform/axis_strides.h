#pragma once
// How far apart the points of a stage lie in memory, and in which order of its axes they are best passed.
#include <optional>
#include <set>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::transform {

/// Temporaries whose dims may come in any order.
using Movable = std::set<kernel::BufferId>;

/// The places of a stage in memory: how far apart neighbours on each axis lie, in elements, where all sizes are the
/// same.
class AxisStrides {
 public:
  /// The places of `movable` buffers do not count: they follow the others.
  AxisStrides(const kernel::KernelProgram& program, const kernel::Stage& stage, const Movable& movable = {});

  /// Returns the axes in the order in which they are best passed, outermost first. The stage has some.
  std::vector<std::size_t> best_order() const;
  /// Returns an axis whose neighbours lie side by side where those on `axis`, the last one, lie apart: where it stands
  /// next to `axis`, a line of the cache is used up before others want its place. None where all is read and written
  /// along `axis`, nor where a fold has an element for each of its points: it is a row to share then.
  std::optional<std::size_t> axis_of_lines(std::size_t axis) const;

 private:
  int cost_of_vectors(std::size_t axis) const;
  std::optional<std::size_t> rows_of_columns(std::size_t axis, const std::vector<std::size_t>& order) const;
  bool is_nearer(std::size_t a, std::size_t b) const;

  struct Place {
    std::vector<double> apart;  // by axis
    int weight = 0;
    bool is_folded = false;  // over an axis
  };
  std::size_t num_axes_;
  std::vector<Place> places_;
};

}  // namespace inlay::transform
