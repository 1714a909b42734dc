#pragma once
// Moving, adding, cutting and repeating axes, out of views, slices and concatenations.
//
// Axes count from the end where they are negative, as in NumPy. `op` is the name in errors: that of what the user
// called.
#include <span>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace inlay {

/// For each axis an item that has all of it.
std::vector<IndexItem> whole(std::span<const Dim> dims);

/// `axis` as 0 .. rank - 1. Errors: axis-out-of-range.
int axis_of(const GraphBuilder& b, ValueId x, int64_t axis, std::string_view op);

/// The same for several: ascending, each once. Errors: axis-out-of-range.
std::vector<int> axes_of(const GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes, std::string_view op);

/// An axis of one element at each of `axes` of the result.
///
/// Errors: axis-out-of-range.
/// Source: numpy.expand_dims.
ValueId expand_dims(GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes);

/// Without `axes`, each of which has one element: known, or checked when the program runs.
///
/// Errors: axis-out-of-range, shape-mismatch.
/// Source: numpy.squeeze, where axes are named.
ValueId squeeze(GraphBuilder& b, ValueId x, const std::vector<int64_t>& axes);

/// Axis `from` at place `to` of the result, the others in order.
///
/// Errors: axis-out-of-range.
/// Source: numpy.moveaxis.
ValueId move_axis(GraphBuilder& b, ValueId x, int64_t from, int64_t to);

/// Axes `first` and `second` change places.
///
/// Errors: axis-out-of-range.
/// Source: numpy.swapaxes.
ValueId swap_axes(GraphBuilder& b, ValueId x, int64_t first, int64_t second);

/// Parts of these sizes along `axis`, which they must fill.
///
/// Errors: axis-out-of-range, shape-mismatch; a negative size is slice-out-of-range.
/// Source: PyTensor's Split. numpy.split takes the places between the parts.
std::vector<ValueId> split(GraphBuilder& b, ValueId x, const std::vector<Dim>& sizes, int64_t axis);

/// The parts, all of one shape, along a new axis.
///
/// Errors: axis-out-of-range, shape-mismatch, wrong-dtype.
/// Source: numpy.stack.
ValueId stack(GraphBuilder& b, const std::vector<ValueId>& parts, int64_t axis);

/// `times[i]` copies of x one behind the other along axis i; aligned at the last axis.
///
/// Source: numpy.tile.
ValueId tile(GraphBuilder& b, ValueId x, std::vector<Dim> times);

/// Each element along `axis` `count` times.
///
/// Errors: axis-out-of-range.
/// Source: numpy.repeat with one count.
ValueId repeat(GraphBuilder& b, ValueId x, const Dim& count, int64_t axis);

/// Along `axis`, element i of x stands at place i + shift, and what leaves at one end enters at the other.
///
/// Errors: axis-out-of-range.
/// Source: numpy.roll.
ValueId roll(GraphBuilder& b, ValueId x, int64_t shift, int64_t axis);

/// x, of which each dim may be 1 where `shape` has more, found when the program runs: a dim of 1 stretches. The fuser
/// reads a stretched value where it lies, and makes it in the loop that asks for it. `made_for`: the op that errors
/// name.
///
/// Errors: wrong-rank, shape-mismatch.
/// Source: numpy.broadcast_to, for axes that x has.
ValueId stretch(GraphBuilder& b, ValueId x, const std::vector<Dim>& shape, std::string_view made_for = "stretch");

/// All elements of a in rows, all of b in columns: the products.
///
/// Errors: wrong-dtype.
/// Source: numpy.outer.
ValueId outer(GraphBuilder& b, ValueId left, ValueId right);

}  // namespace inlay
