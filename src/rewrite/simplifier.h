#pragma once
// The one driver of all rules: nodes of the new graph are made through it, and come out simplified.
#include "rewrite/pass_context.h"
#include "rewrite/pattern.h"

namespace inlay::rewrite {

class Simplifier {
 public:
  Simplifier(GraphBuilder& builder, PassContext& context)
      : builder_(builder), context_(context), matcher_(builder.graph()) {}

  /// What computes the same as `node`, whose operands are of the new graph; none where no rule fits. Builds nothing
  /// then.
  std::optional<ValueId> simplified(const Node& node, const TensorType& type);

  // For rules.
  GraphBuilder& builder() { return builder_; }
  const Graph& graph() const { return builder_.graph(); }
  Matcher& matcher() { return matcher_; }
  /// May the rule of this name run? Counts it. The last question a rule asks before it builds.
  bool fires(const char* rule, Close close);
  /// Builds a node, simplified.
  ValueId make(const Node& node, const TensorType& type);
  ValueId scalar(ScalarOp op, std::vector<ValueId> operands);
  /// A value of one literal everywhere.
  ValueId filled(const Literal& literal, const std::vector<Dim>& dims);
  /// `v` stretched to `dims` where it is narrower.
  ValueId stretched(ValueId v, const std::vector<Dim>& dims);

 private:
  std::optional<ValueId> simplified_scalar(ScalarOp op, const std::vector<ValueId>& operands,
                                           const std::vector<Dim>& dims);
  ValueId build(const Pattern& pattern, const Bindings& bindings, DType dtype);

  GraphBuilder& builder_;
  PassContext& context_;
  Matcher matcher_;
};

/// The dims that the operands broadcast to; none where that needs a check at run time.
std::optional<std::vector<Dim>> certain_dims(const Graph& graph, const std::vector<ValueId>& operands);

}  // namespace inlay::rewrite
