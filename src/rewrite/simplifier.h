#pragma once
// Drives all rules: it makes the nodes of the new graph, simplified.
#include "rewrite/pattern.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

class Simplifier {
 public:
  Simplifier(GraphBuilder& builder, PassContext& context)
      : builder_(builder), context_(context), matcher_(builder.graph()) {}

  /// Returns a simpler equivalent of `node`, whose operands are in the new graph; nothing if no rule matches, and then
  /// builds nothing. Results of rules are simplified too, so rules that undo each other would never end: a chain of
  /// rules that is longer than any correct one is a mistake of inlay, and the error names the rules.
  std::optional<ValueId> simplified(const Node& node, const TensorType& type);
  /// Records that `v` represents a value of the old graph that this many nodes and outputs read.
  void add_readers(ValueId v, int count);
  /// Returns the number of readers; 0 for what a rule made, since its readers are unknown.
  int num_readers(ValueId v) const { return v.index < readers_.size() ? readers_[v.index] : 0; }

  // For rules.
  GraphBuilder& builder() { return builder_; }
  const Graph& graph() const { return builder_.graph(); }
  PatternMatcher& matcher() { return matcher_; }
  /// May the current node rule run? If so, counts it. A rule asks this last before it builds.
  bool fires();
  PassContext& context() { return context_; }
  /// Builds a simplified node.
  ValueId make(const Node& node, const TensorType& type);
  ValueId scalar(ScalarOp op, std::vector<ValueId> operands);
  /// Builds a value whose elements are all `literal`.
  ValueId filled(const Literal& literal, const std::vector<Dim>& dims);
  /// Broadcasts `v` to `dims` if it does not have them.
  ValueId stretched(ValueId v, const std::vector<Dim>& dims);

 private:
  std::optional<ValueId> by_scalar_rule(ScalarOp op, const std::vector<ValueId>& operands,
                                        const std::vector<Dim>& dims);
  std::optional<ValueId> by_node_rule(const Node& node, const TensorType& type);
  bool fires(const char* rule, Close close);
  ValueId build(const Pattern& pattern, const Bindings& bindings, DType dtype);

  GraphBuilder& builder_;
  PassContext& context_;
  PatternMatcher matcher_;
  const struct NodeRule* asking_ = nullptr;
  std::vector<const char*> chain_;  // the rules that led to what is being built
  std::vector<int> readers_;        // by value; unknown for what a rule made
};

/// Returns the dims that the operands broadcast to; nothing if that needs a check at run time.
std::optional<std::vector<Dim>> certain_dims(const Graph& graph, const std::vector<ValueId>& operands);

}  // namespace inlay::rewrite
