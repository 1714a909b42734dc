#pragma once
// Access maps: which element of a buffer a loop point touches. Pure maths: no graph, no bytes.
//
// An access map has one subscript for each dim of the buffer:
//
//   subscript = base + sum(step * axis) + step * wrap(index)
//
// `index` is a register that was itself loaded (a gather or a scatter). Slices, transposition, flips, broadcasting,
// concat slots, gathers and scatters are all values of this one type; the fuser composes them, memory compares them, a
// backend emits them. AccessMap is tested in lockstep with a twin that enumerates every element.
//
// The step of an axis is a size, since what may have length 1 when the program runs is read at a step of 0 or 1.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "support/answer.h"
#include "support/id.h"
#include "support/small_vector.h"

namespace inlay::kernel {

using RegisterId = Id<struct RegisterTag>;  // a value at one point of a stage; numbered within the stage
using SiteId = Id<struct SiteTag>;          // where a call can fail: an index into KernelProgram::sites

struct AxisTerm {
  int axis = 0;  // position in the stage's axes, the kernel's outer axes first
  Dim step = 1;  // not the number 0; in a map that is written to, 0 at no sizes
  bool operator==(const AxisTerm&) const = default;
};

/// How an index is known to lie within its extent.
enum class Bounds : uint8_t {
  proved,          // it lies in [0, extent)
  checked_before,  // an earlier stage has checked this very index: it lies in [-extent, extent)
  checked,         // it is checked here
};

/// A loaded index. Negative ones count from `extent`: wrap(i) = i < 0 ? i + extent : i.
struct IndexTerm {
  RegisterId index;
  int64_t step = 1;
  Dim extent;  // the index must lie in [-extent, extent)
  Bounds bounds = Bounds::checked;
  SiteId site;  // of the error, when checked

  /// Returns the number of points in [0, extent) as a check counts them: 0 if the extent is negative.
  Dim num_points() const { return max(extent, 0); }
  bool operator==(const IndexTerm&) const = default;
};

struct Subscript {
  Dim base;
  SmallVector<AxisTerm, 2> axes;  // ascending by axis, each once
  std::optional<IndexTerm> index;

  bool is_constant() const { return axes.empty() && !index; }
  /// Does this axis alone determine the subscript? (Then, where the same subscript occurs elsewhere, equal values mean
  /// one point of the axis. With a step that may be 0, all points could be at one place.)
  bool is_told_by(int axis) const {
    return !index && axes.size() == 1 && axes[0].axis == axis && axes[0].step.is_constant();
  }
  bool operator==(const Subscript&) const = default;
};

/// Returns a + times * b. Neither subscript may have an index.
Subscript plus(const Subscript& a, const Subscript& b, const Dim& times);

struct AccessMap {
  std::vector<Subscript> subscripts;  // one for each dim of the buffer

  /// The map that touches element (i, j, ...) at point (i, j, ...) of the axes first_axis, first_axis + 1, ...
  static AccessMap identity(int rank, int first_axis = 0);

  int rank() const { return static_cast<int>(subscripts.size()); }
  bool uses_axis(int axis) const;
  bool has_index() const;  // is any subscript loaded?
  bool operator==(const AccessMap&) const = default;
};

/// Returns the step of a subscript that has one axis and starts at the first element, if it is 0 or 1 depending on the
/// sizes.
std::optional<Dim> stretching_step(const Subscript& at);

/// Returns the factors of steps that are always 0 or 1, depending on the sizes, each once. Where such a size is 0, all
/// points of an axis read one element.
std::vector<Dim> stretching_sizes(const AccessMap& map);

/// Returns the map with `value` put for each of these factors.
AccessMap where(AccessMap map, std::span<const Dim> factors, int64_t value);

/// The map as one offset into row-major memory: base + sum(stride * axis) + sum(stride * wrap(index)), all in elements.
struct LinearMap {
  Dim base;
  std::vector<std::pair<int, Dim>> axes;  // axis, stride in elements; ascending by axis
  std::vector<std::pair<IndexTerm, Dim>> indices;
  bool operator==(const LinearMap&) const = default;
  Dim stride_of(int axis) const;  // 0 where the axis does not occur
};
LinearMap linearize(const AccessMap& map, std::span<const Dim> buffer_dims);

/// Do two different points always touch different elements? Axes of extent 1 do not count. no: for all sizes two points
/// touch the same element.
Answer is_injective(const AccessMap& map, std::span<const Dim> axis_extents);

/// Do the maps touch the same element at the same point, and never at different points? (Same map, injective.)
bool same_element_only(const AccessMap& a, const AccessMap& b, std::span<const Dim> axis_extents);

/// Do the maps share a subscript that this axis alone determines? Then they touch different elements of one buffer at
/// different points of the axis.
bool told_apart_by(const AccessMap& a, const AccessMap& b, int axis);

/// Do both have the same stride along each axis that has more than one point?
bool same_strides(const LinearMap& a, const LinearMap& b, std::span<const Dim> axis_extents);

/// Can a point of one map (over its extents) and a point of the other touch the same element of the buffer? no: the
/// regions are disjoint for all sizes. yes: they overlap for all sizes at which both have points. `sizes` are other
/// expressions that are known to be at least 0, such as the lengths of the parts in between.
Answer regions_overlap(const AccessMap& a, std::span<const Dim> extents_a, const AccessMap& b,
                       std::span<const Dim> extents_b, std::span<const Dim> sizes = {});

/// Is the subscript in [0, dim) at every point? An index counts as within its extent, since it is proved or checked.
/// no: for all sizes some point lies outside.
Answer within_dim(const Subscript& subscript, std::span<const Dim> axis_extents, const Dim& dim);

/// Returns how far a step along each dim of the buffer goes in `to`, 0 for a dim of 1: the map reaches every element of
/// the buffer exactly once, and where it reaches (i, j, ...), `to` is at base + sum(strides * (i, j, ...)). None if
/// that is not so, or not seen.
std::optional<std::vector<Dim>> strides_by_dim(const AccessMap& map, std::span<const Dim> axis_extents,
                                               std::span<const Dim> buffer_dims, const LinearMap& to);

/// Returns the first linear element that the map can touch and one past the last, if the map is affine; nothing through
/// an index. Assumes that there is a point: with an extent of 0 the map touches nothing, whatever the region says.
struct Region {
  Dim first, last;  // in elements, [first, last)
};
std::optional<Region> bounding_region(const AccessMap& map, std::span<const Dim> axis_extents,
                                      std::span<const Dim> buffer_dims);

/// The elements of a buffer with these dims that the points of a loop touch.
struct Touched {
  const AccessMap& map;
  std::span<const Dim> extents, dims;
};

/// Do they touch different bytes, for all sizes? Of one buffer, or of two that begin at the same byte with elements of
/// one size. false: not for all, or not proved.
bool always_disjoint(const Touched& a, const Touched& b);

/// Does each of these, of buffers with the same dims, begin behind the end of the one before, for all sizes? Then no
/// two touch the same element. Takes a proof for each, not for each pair.
bool follow_each_other(std::span<const Touched> places);

}  // namespace inlay::kernel
