#pragma once
// The one driver of all rules: nodes of the new graph are made through it, and come out simplified.
#include "rewrite/pattern.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

class Simplifier {
 public:
  Simplifier(GraphBuilder& builder, PassContext& context)
      : builder_(builder), context_(context), matcher_(builder.graph()) {}

  /// What computes the same as `node`, whose operands are of the new graph; none where no rule fits. Builds nothing
  /// then. What a rule builds is simplified too, so rules that undid each other would never end: a chain of rules that
  /// is longer than any right one is a mistake of ours, and says which rules it was.
  std::optional<ValueId> simplified(const Node& node, const TensorType& type);
  /// `v` stands for a value of the old graph that so many nodes and outputs read.
  void add_readers(ValueId v, int count);
  /// 0: of what a rule made none are known.
  int num_readers(ValueId v) const { return v.index < readers_.size() ? readers_[v.index] : 0; }

  // For rules.
  GraphBuilder& builder() { return builder_; }
  const Graph& graph() const { return builder_.graph(); }
  PatternMatcher& matcher() { return matcher_; }
  /// May the node rule that asks run? Counts it. The last question that it asks before it builds.
  bool fires();
  PassContext& context() { return context_; }
  /// Builds a node, simplified.
  ValueId make(const Node& node, const TensorType& type);
  ValueId scalar(ScalarOp op, std::vector<ValueId> operands);
  /// A value of one literal everywhere.
  ValueId filled(const Literal& literal, const std::vector<Dim>& dims);
  /// `v` stretched to `dims` where it is narrower.
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
  std::vector<int> readers_;        // by value; none are known of what a rule made
};

/// The dims that the operands broadcast to; none where that needs a check at run time.
std::optional<std::vector<Dim>> certain_dims(const Graph& graph, const std::vector<ValueId>& operands);

}  // namespace inlay::rewrite
