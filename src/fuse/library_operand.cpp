#include "fuse/library_operand.h"

#include <algorithm>

#include "fuse/affine_index.h"
#include "fuse/view_maps.h"
#include "kernel/dim_proof.h"
#include "kernel/library_layout.h"

namespace inlay::fuse {

using kernel::AccessMap;
using kernel::always_at_least;

namespace {

class Follower {
 public:
  Follower(const Graph& graph, const Cones& cones, const Forced& forced, const Node& node, std::size_t operand,
           const std::vector<Dim>& sizes)
      : graph_(graph), cones_(cones), forced_(forced), op_(node.library), sizes_(sizes), v_(node.operands[operand]) {
    axes_ = facts(op_).signature.operands[operand];
    dims_ = graph.type(v_).dims;
    core_ = core_axes(op_, operand, graph.type(v_).rank());
    layout_ = operand_layout(op_, operand, node.library_options, graph.type(v_).dtype);
  }

  LibraryOperand follow() {
    LibraryOperand best{v_, {.buffer = {}, .offset = 0, .strides = row_major_strides(op_, axes_, sizes_)}, {}};
    AccessMap at = AccessMap::identity(static_cast<int>(dims_.size()));
    bool drops = false;  // elements of what is viewed
    for (ValueId v = v_; !index_.valid();) {
      const auto from = point_of(v, at);
      if (!from) break;
      const Node& view = *graph_.node_of(v);
      drops |= view.op == Op::gather || view.op == Op::slice || view.op == Op::diagonal;
      at = *from;
      v = view.operands[0];
      // What is computed where it is asked for is not stored as a whole for a part of it.
      if (drops && !is_in_memory(v)) continue;
      if (!place(v, at, best) && is_in_memory(v)) break;
    }
    // The same elements in row-major order: whatever the dims.
    for (const Node* view = graph_.node_of(best.base); view && view->op == Op::reshape;) {
      best.base = view->operands[0];
      view = graph_.node_of(best.base);
    }
    return best;
  }

 private:
  bool is_in_memory(ValueId v) const {
    const bool is_returned =
        std::ranges::any_of(graph_.outputs, [&](const Output& output) { return output.value == v; });
    return is_returned || forced_.values[v] || cones_.always_stored(v);
  }

  /// Where the operand of a view is asked; of a gather too whose indices are affine in the axes of the batch, as of
  /// what may have length 1, or one of which is the step of the loop around.
  std::optional<AccessMap> point_of(ValueId v, const AccessMap& at) {
    const Node* node = graph_.node_of(v);
    if (!node || node->op != Op::gather) return view_point(graph_, v, at);
    const std::vector<Dim>& dims = graph_.type(node->operands[0]).dims;
    PlacedIndex placed = place_index(graph_, node->index, dims, at);
    std::erase_if(placed.arrays, [&](const WriteIndex& index) {
      const auto affine = affine_index(graph_, index.array, index.extent);
      const auto place = affine ? at_point(*affine, index.at) : std::nullopt;
      if (!place || !is_along_batch(*place)) return false;
      placed.map.subscripts[static_cast<std::size_t>(index.dim)] = *place;
      return true;
    });
    if (placed.arrays.empty()) return placed.map;
    if (placed.arrays.size() != 1 || !is_step(placed.arrays[0].array, placed.arrays[0].extent)) return std::nullopt;
    index_ = placed.arrays[0].array;
    index_stride_ = 1;
    for (std::size_t dim = static_cast<std::size_t>(placed.arrays[0].dim) + 1; dim < dims.size(); ++dim) {
      index_stride_ = index_stride_ * dims[dim];
    }
    return placed.map;
  }

  /// Rows and columns may not overlap, nor be one; points of the batch may.
  bool is_along_batch(const kernel::Subscript& place) const {
    const auto num_batch = static_cast<int>(dims_.size() - core_.size());
    return std::ranges::all_of(place.axes, [&](const kernel::AxisTerm& term) { return term.axis < num_batch; });
  }

  /// Is it a number of the body's loop that is proved to be less?
  bool is_step(ValueId v, const Dim& extent) const {
    const auto param = std::ranges::find(graph_.params, v, &Param::value);
    return graph_.is_body && param != graph_.params.end() && param->below && always_at_least(extent, *param->below);
  }

  /// Reads `base` at `at`, if the function can.
  bool place(ValueId base, const AccessMap& at, LibraryOperand& best) const {
    const kernel::LinearMap map = linearize(at, graph_.type(base).dims);
    const std::size_t num_batch = dims_.size() - core_.size();
    std::vector<Dim> along;
    for (std::size_t axis = 0; axis < dims_.size(); ++axis) along.push_back(map.stride_of(static_cast<int>(axis)));
    const auto batch = kernel::merged_stride(std::span(dims_).first(num_batch), std::span(along).first(num_batch));
    if (!batch) {
      best.why_copied = "the axes of its batch do not lie evenly";
      return false;
    }
    // Where there is nothing to step over, the strides are those of the whole.
    const std::array<Dim, 3> extents = library_extents(op_, axes_, sizes_);
    LibraryStrides<Dim> strides = row_major_strides(op_, axes_, sizes_);
    if (!extents[0].is(1)) strides[0] = *batch;
    std::size_t next = num_batch;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const bool is_there = core_.size() == axes_.size() || !axes_[a].optional;
      if (!is_there) continue;
      if (!extents[a + 1].is(1)) strides[a + 1] = along[next];
      ++next;
    }
    best.why_copied = kernel::why_not_laid(layout_, extents, strides, graph_.symbol_names());
    if (!best.why_copied.empty()) return false;
    best.base = base;
    best.array.offset = map.base;
    best.array.index_stride = index_stride_;
    best.index = index_;
    best.array.strides = strides;
    return true;
  }

  const Graph& graph_;
  const Cones& cones_;
  const Forced& forced_;
  const LibraryOp op_;
  const std::vector<Dim>& sizes_;
  const ValueId v_;
  CoreAxes axes_, core_;  // of the signature; of these those that the operand has
  std::vector<Dim> dims_;
  LibraryLayout layout_ = LibraryLayout::any;
  ValueId index_;
  Dim index_stride_;
};

}  // namespace

LibraryOperand library_operand(const Graph& graph, const Cones& cones, const Forced& forced, const Node& node,
                               std::size_t operand, const std::vector<Dim>& sizes) {
  return Follower(graph, cones, forced, node, operand, sizes).follow();
}

std::vector<Dim> library_sizes(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  for (ValueId v : node.operands) types.push_back(graph.type(v));
  const LibraryShape shape = library_shape(node.library, types);
  std::vector<Dim> out = {product(shape.batch)};
  out.insert(out.end(), shape.sizes.begin(), shape.sizes.end());
  return out;
}

}  // namespace inlay::fuse
