#include "fuse/needs.h"

#include "fuse/library_operand.h"
#include "fuse/selection.h"
#include "fuse/view_maps.h"
#include "ir/region.h"

namespace inlay::fuse {

namespace {

class NeedsFinder {
 public:
  NeedsFinder(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced)
      : graph_(graph), caps_(caps), cones_(cones), forced_(forced), uses_(count_uses(graph)) {
    out_.needed = out_.required = IdMap<ValueId, bool>(graph.values.size(), false);
    out_.selection = IdMap<ValueId, NodeId>(graph.values.size());
  }

  Needs find() {
    for (const Output& output : graph_.outputs) need_whole(output.value);
    for (const Node& node : graph_.nodes) {
      // They can fail, or bind a symbol: they run whoever reads them.
      if (node.op == Op::as_size || node.op == Op::compress) out_.needed[node.results[0]] = true;
      if (!has_effects(node)) continue;
      for (ValueId v : node.results) out_.needed[v] = true;
    }
    for (uint32_t i = static_cast<uint32_t>(graph_.values.size()); i-- > 0;) {
      const ValueId v(i);
      if (const Node* node = graph_.node_of(v); node && out_.needed[v]) need_operands(v, *node);
    }
    return std::move(out_);
  }

 private:
  void need_whole(ValueId v) { out_.needed[v] = out_.required[v] = true; }

  void need_operands(ValueId v, const Node& node) {
    if (node.op == Op::library) return require_library_operands(node);
    if (is_stored(graph_, cones_, forced_, out_, v) && goes_along_with_mask(v)) return;
    for (ValueId operand : node.operands) out_.needed[operand] = true;
    if (is_region(node.op) || node.op == Op::fold) {
      for (ValueId result : node.results) out_.needed[result] = true;  // a body, or a fold, makes all of them
    }
    require_operands(node);
  }

  /// What it is made of is asked where the mask is passed, but for numbers. (All operands of a compress are needed.)
  bool goes_along_with_mask(ValueId v) {
    const NodeId compress = selection_of(graph_, cones_, forced_, uses_, v);
    if (!compress.valid()) return false;
    out_.selection[v] = compress;
    std::vector<ValueId> todo = {v};
    while (!todo.empty()) {
      const ValueId part = todo.back();
      todo.pop_back();
      for (ValueId operand : graph_.node_of(part)->operands) {
        const bool is_number = has_one_element(graph_.type(operand));
        if (is_number) out_.needed[operand] = true;
        if (!is_number && graph_.values[operand].node != compress) todo.push_back(operand);
      }
    }
    return true;
  }

  void require(ValueId v, kernel::Stored why) {
    out_.required[v] = true;
    out_.because.emplace(v, std::move(why));
  }

  void require_operands(const Node& node) {
    switch (node.op) {
      case Op::host_call:
        for (ValueId operand : node.operands) out_.required[operand] = true;
        break;
      case Op::cond:
        for (ValueId operand : node.operands) require(operand, {kernel::StoredFor::captured, "a branch"});
        break;
      case Op::loop:  // initial values are computed where they are carried
        for (std::size_t i = static_cast<std::size_t>(node.region.num_carried); i < node.operands.size(); ++i) {
          require(node.operands[i], {kernel::StoredFor::captured, "every pass of a loop"});
        }
        break;
      case Op::reshape:
        if (!reshape_is_map(graph_, node)) out_.required[node.operands[0]] = true;
        break;
      case Op::gather: {
        const ValueId base = node.operands[0];
        const bool by_position = cones_.of(base, forced_.values).needs_affine_point;
        if (by_position) require(base, {kernel::StoredFor::by_position, {}});
        break;
      }
      default: break;
    }
  }

  /// A library function writes all of its results, whoever reads them, and reads the bytes below views.
  void require_library_operands(const Node& node) {
    for (ValueId result : node.results) out_.needed[result] = true;
    const std::vector<Dim> sizes = library_sizes(graph_, node);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      need_whole(library_operand(graph_, cones_, forced_, node, i, sizes).base);
    }
  }

  const Graph& graph_;
  const kernel::BackendCaps& caps_;
  Cones& cones_;
  const Forced& forced_;
  const IdMap<ValueId, int> uses_;
  Needs out_;
};

}  // namespace

Needs find_needs(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced) {
  return NeedsFinder(graph, caps, cones, forced).find();
}

bool is_stored(const Graph& graph, const Cones& cones, const Forced& forced, const Needs& needs, ValueId v) {
  const Node* node = graph.node_of(v);
  if (!node || node->op == Op::literal) return false;
  return needs.required[v] || forced.values[v] || has_one_element(graph.type(v)) || cones.always_stored(v);
}

}  // namespace inlay::fuse
