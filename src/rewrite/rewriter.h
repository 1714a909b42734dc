#pragma once
// Makes a new Graph from an old one, node by node: the base of every pass.
//
// The new graph has the same parameters, outputs, assumptions and bound facts. A pass visits the old nodes in order and
// for each one copies it, replaces it by values of the new graph, or leaves it out if nothing copied later uses it.
// Names, locations and size checks follow automatically: a check moves to the first node that its old node became; of
// two equal ones at one node one is kept.
#include "ir/builder.h"

namespace inlay::rewrite {

class Rewriter {
 public:
  explicit Rewriter(const Graph& source);
  /// Omits the symbols that are not in `keep`. Those of parameters must be in it.
  Rewriter(const Graph& source, const IdMap<SymbolId, bool>& keep);
  /// And the bound parameters that are not in `keep_bound`, which nothing that is copied may read.
  Rewriter(const Graph& source, const IdMap<SymbolId, bool>& keep, const IdMap<ValueId, bool>& keep_bound);

  const Graph& source() const { return source_; }
  const Graph& graph() const { return builder_.graph(); }
  GraphBuilder& builder() { return builder_; }

  /// Returns the value for `old` in the new graph.
  ValueId operator[](ValueId old) const;
  bool has(ValueId old) const { return values_[old].valid(); }
  /// Returns an old size in the new graph's symbols.
  Dim dim(const Dim& old) const;
  /// Returns the old node with operands, index arrays and sizes of the new graph; its results are still the old ones.
  Node mapped(NodeId old) const;

  /// Call this before building nodes that replace `old`: they get its location and its checks.
  void at(NodeId old);
  void copy(NodeId old) { copy(old, mapped(old)); }
  /// Copies `old`, given `mapped(old)`.
  void copy(NodeId old, const Node& mapped);
  /// Replaces the one result of `old` by `by`, which must have the same type.
  void replace(NodeId old, ValueId by);
  /// Replaces the results of `old`, by position; an invalid id: nothing copied later reads that one.
  void replace(NodeId old, std::span<const ValueId> by);
  /// Replaces the result of `old` by `by`, which depends on the new node of `earlier`, another old node, as well: it
  /// carries the checks of both.
  void replace_along(NodeId old, NodeId earlier, ValueId by);
  /// What is copied later reads `by` for `old`, a value of another dtype: it must take that.
  void stand_in(ValueId old, ValueId by);
  /// Uses the new node of `twin`, another old node, for `old` too, with the checks of both.
  void share(NodeId old, NodeId twin);

  Graph finish() &&;

 private:
  void replace_result(ValueId old, ValueId by);
  /// Gives the name of `old` to `by`. A parameter keeps its name, and so does a value that has one.
  void pass_name_on(ValueId old, ValueId by);
  std::vector<DimCheck> merged_checks(std::vector<DimCheck> built) const;

  const Graph& source_;
  GraphBuilder builder_;
  IdMap<SymbolId, Dim> symbols_;
  bool same_symbols_ = true;
  IdMap<ValueId, ValueId> values_;
  IdMap<NodeId, NodeId> began_at_;  // the first node that an old one became, or the next node there
};

/// Builds `node` again through its builder call. It has values of `builder`; `types` are those of its results.
std::vector<ValueId> rebuild(GraphBuilder& builder, const Node& node, std::vector<TensorType> types);

}  // namespace inlay::rewrite
