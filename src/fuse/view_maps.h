#pragma once
// Where the operand of a view, an indexing or a broadcast is asked, when its result is asked at a point.
#include <optional>
#include <span>
#include <vector>

#include "fuse/piece.h"
#include "kernel/caps.h"

namespace inlay::fuse {

/// One place, whatever the point is.
kernel::Subscript constant(Dim value);

/// A dim of size 1 has one place only: is it said so? One spelling lets equal questions meet. (Who drops an index sees
/// to its check.)
bool is_normal(const AccessMap& at, std::span<const Dim> dims);
AccessMap normalized(AccessMap at, std::span<const Dim> dims);

/// An index list at a point of the region it selects: the affine part of each subscript, and the arrays that are asked.
struct PlacedIndex {
  AccessMap map;  // of the indexed value; subscripts of arrays are empty
  std::vector<WriteIndex> arrays;
};
PlacedIndex place_index(const Graph& graph, const std::vector<IndexItem>& index, std::span<const Dim> base_dims,
                        const AccessMap& at);

/// `at` of a value with dims `to`, as asked of an operand with dims `from` that broadcasts to it.
AccessMap broadcast_point(const AccessMap& at, std::span<const Dim> from);

/// The point of x, where `at` is the point of its diagonal: the last place stands in both axes.
AccessMap diagonal_point(const AccessMap& at, std::span<const int> axes);

/// Where the operand of a view is asked when `v`, the view, is asked at `at`. None: it is no view by its map alone.
std::optional<AccessMap> view_point(const Graph& graph, ValueId v, const AccessMap& at);

/// Can a reshape be answered by changing the map alone? (Only 1s come or go, one side has one element, or the
/// operand is a line with known strides.)
bool reshape_is_map(const Graph& graph, const Node& node);

/// Does the reshape only put in, or leave out, axes of one element?
bool reshape_moves_ones(const Graph& graph, const Node& node);

/// Are the elements of the index array some of 0, 1, ..., extent - 1, whatever they are in this call? An access through
/// it then goes without a check, and a check of what is not read is left out.
bool always_within(const Graph& graph, ValueId array, const Dim& extent);

/// Is the reduce written out at the point, term by term? Static and short, of elements that are combined as they are.
bool is_unrolled(const Graph& graph, const Node& node, const kernel::BackendCaps& caps);

}  // namespace inlay::fuse
