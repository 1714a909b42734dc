#pragma once
// Makes a new Graph from an old one, node by node: what every pass stands on.
//
// The new graph has the same parameters, outputs, assumptions and bound facts. A pass walks the old nodes in order and
// for each one copies it, replaces it by values of the new graph, or leaves it out when nothing copied later uses it.
// Names, locations and size checks follow by themselves: a check stands at the first node that its old node became;
// one of two at the same node is enough.
#include "ir/builder.h"

namespace inlay::rewrite {

class Rewriter {
 public:
  explicit Rewriter(const Graph& source);
  /// Leaves out the symbols that are not in `keep`. Those of parameters must be in it.
  Rewriter(const Graph& source, const IdMap<SymbolId, bool>& keep);

  const Graph& source() const { return source_; }
  const Graph& graph() const { return builder_.graph(); }
  GraphBuilder& builder() { return builder_; }

  /// What stands for `old` in the new graph.
  ValueId operator[](ValueId old) const;
  bool has(ValueId old) const { return values_[old].valid(); }
  /// An old size over the new graph's symbols.
  Dim dim(const Dim& old) const;
  /// The old node with operands, index arrays and sizes of the new graph; its results are still the old ones.
  Node mapped(NodeId old) const;

  /// To be called before nodes are built in the place of `old`: they get its location and its checks.
  void at(NodeId old);
  void copy(NodeId old) { copy(old, mapped(old)); }
  /// The same where `mapped(old)` is at hand.
  void copy(NodeId old, const Node& mapped);
  /// `by` stands for the one result of `old` from here on. Its type must be the same.
  void replace(NodeId old, ValueId by);
  /// By result; none: nothing copied later reads that one.
  void replace(NodeId old, std::span<const ValueId> by);
  /// Likewise where what became of `earlier`, another node of the source, makes `by` too: it carries the checks of
  /// both.
  void replace_along(NodeId old, NodeId earlier, ValueId by);
  /// What became of `twin`, another node of the source, stands for `old` too, with the checks of both.
  void share(NodeId old, NodeId twin);

  Graph finish() &&;

 private:
  void replace_result(ValueId old, ValueId by);
  /// A parameter keeps its name, and so does a value that has one already.
  void pass_name_on(ValueId old, ValueId by);
  std::vector<DimCheck> merged_checks(std::vector<DimCheck> built) const;

  const Graph& source_;
  GraphBuilder builder_;
  IdMap<SymbolId, Dim> symbols_;
  bool same_symbols_ = true;
  IdMap<ValueId, ValueId> values_;
  IdMap<NodeId, NodeId> began_at_;  // the first node that an old one became, or the next node there
};

/// Builds `node` anew through its builder call. `node` speaks of values of `builder`; `types` are those of its results.
std::vector<ValueId> rebuild(GraphBuilder& builder, const Node& node, std::vector<TensorType> types);

}  // namespace inlay::rewrite
