#include "rewrite/single_precision.h"

#include <algorithm>
#include <vector>

#include "ir/traits.h"
#include "rewrite/narrow_regions.h"
#include "rewrite/rewriter.h"

namespace inlay::rewrite {
namespace {

constexpr const char* kRule = "single-precision";

/// Does it count its points in f64, whatever it folds?
bool is_moments(const Graph& graph, const Node& node) {
  return reduces_by(node, Fold::moments) && graph.type(node.results[0]).dtype == DType::f32;
}

class Narrower {
 public:
  Narrower(const Graph& graph, const NarrowRegions& regions)
      : graph_(graph), regions_(regions), out_(graph), narrow_(graph.values.size()) {}

  Graph run() && {
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) visit(n);
    return std::move(out_).finish();
  }

 private:
  void visit(NodeId n) {
    const Node& node = graph_.nodes[n];
    switch (regions_[n]) {
      case NarrowRegions::Part::start: return start(n);
      case NarrowRegions::Part::inside: return inside(n);
      case NarrowRegions::Part::end:
        out_.at(n);
        return out_.replace(n, out_.builder().cast(narrow_[node.operands[0]], graph_.type(node.results[0]).dtype));
      case NarrowRegions::Part::choice:
      case NarrowRegions::Part::outside: break;
    }
    if (!is_moments(graph_, node)) return out_.copy(n);
    out_.at(n);
    out_.replace(n, squares(out_[node.operands[0]]));
  }

  /// Is in f32 for its region, and in f64 for other readers.
  void start(NodeId n) {
    const ValueId v = graph_.nodes[n].results[0];
    if (regions_.has_reader_outside(v)) out_.copy(n);
    if (!regions_.has_reader_inside(v)) return;
    const bool is_alone = !out_.has(v);
    if (is_alone) out_.at(n);
    narrow_[v] = narrow_start(graph_.nodes[n], v);
    if (is_alone) out_.stand_in(v, narrow_[v]);
  }

  ValueId narrow_start(const Node& node, ValueId v) {
    GraphBuilder& builder = out_.builder();
    const DType dtype = narrowed(graph_.type(v).dtype);
    if (node.op == Op::cast) return builder.cast(out_[node.operands[0]], dtype);
    Node same = node;
    for (Literal& element : same.elements) element = Literal::of_float(dtype, element.f, element.imaginary);
    return rebuild(builder, same, {narrow_type(v)})[0];
  }

  void inside(NodeId n) {
    Node node = out_.mapped(n);
    const Node& old = graph_.nodes[n];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (narrow_[old.operands[i]].valid()) node.operands[i] = narrow_[old.operands[i]];
    }
    std::vector<TensorType> types;
    for (ValueId v : old.results) types.push_back(narrow_type(v));
    out_.at(n);
    const std::vector<ValueId> made = reduces_by(node, Fold::moments) ? std::vector<ValueId>{squares(node.operands[0])}
                                                                      : rebuild(out_.builder(), node, types);
    std::vector<ValueId> others(made.size());
    for (std::size_t r = 0; r < made.size(); ++r) {
      if (is_wide(graph_.type(old.results[r]).dtype)) {
        narrow_[old.results[r]] = made[r];
        out_.stand_in(old.results[r], made[r]);
      } else {
        others[r] = made[r];
      }
    }
    out_.replace(n, others);
  }

  /// sum((x - mean(x))^2), in two passes over x: where one is better, find-folds makes one of them again.
  ValueId squares(ValueId x) {
    GraphBuilder& builder = out_.builder();
    const TensorType type = builder.type(x);
    std::vector<int> axes;
    for (int axis = 0; axis < type.rank(); ++axis) axes.push_back(axis);
    const ValueId sum = builder.reduce(Fold::add, x, axes, type.dtype);
    const ValueId count = builder.cast(builder.size(product(type.dims)), type.dtype);
    const ValueId mean = builder.scalar(ScalarOp::div_, {sum, count});
    const ValueId square = builder.scalar(ScalarOp::square_, {builder.scalar(ScalarOp::sub_, {x, mean})});
    return builder.reduce(Fold::add, square, axes, type.dtype);
  }

  TensorType narrow_type(ValueId v) const {
    TensorType out{narrowed(graph_.type(v).dtype), {}};
    for (const Dim& dim : graph_.type(v).dims) out.dims.push_back(out_.dim(dim));
    return out;
  }

  const Graph& graph_;
  const NarrowRegions& regions_;
  Rewriter out_;
  IdMap<ValueId, ValueId> narrow_;  // by value of a region, what it is in f32
};

}  // namespace

std::optional<Graph> use_single_precision(const Graph& graph, PassContext& context) {
  const auto counts_in_f64 = [&](const Node& node) { return is_moments(graph, node); };
  const auto ends_f64 = [&](const Node& node) { return is_end_of_wide(graph, node); };
  const bool has_moments = std::ranges::any_of(graph.nodes, counts_in_f64);
  if (!has_moments && std::ranges::none_of(graph.nodes, ends_f64)) return std::nullopt;
  const NarrowRegions regions(graph);
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    if (!ends_f64(graph.nodes[n]) || regions[n] == NarrowRegions::Part::end) continue;
    context.refuse(graph.value_text(graph.nodes[n].results[0]),
                   " is computed in f64, and then rounded: ", regions.reason(graph.nodes[n].operands[0]));
  }
  if (!has_moments && !regions.any()) return std::nullopt;
  if (!context.fires(kRule, Close::rounding)) return std::nullopt;
  return Narrower(graph, regions).run();
}

}  // namespace inlay::rewrite
