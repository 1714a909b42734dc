#include "rewrite/node_rules.h"

#include <algorithm>

namespace inlay::rewrite {

const std::vector<NodeRule>& node_rules() {
  static const std::vector<NodeRule> kAll = [] {
    std::vector<NodeRule> all;
    for (const auto& family :
         {literal_rules(), view_rules(), region_rules(), sum_rules(), extreme_rules(), select_rules()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kAll;
}

const Node* made_by(Simplifier& simplifier, ValueId v, Op op) {
  const Node* node = simplifier.graph().node_of(v);
  if (!node || node->op != op) return nullptr;
  return simplifier.matcher().is_checked(simplifier.graph().values[v].node) ? nullptr : node;
}

const Node* operand_of(Simplifier& simplifier, const Node& node, Op op, std::size_t operand) {
  return made_by(simplifier, node.operands[operand], op);
}

Node unary(Op op, ValueId operand) {
  Node node{.op = op};
  node.operands = {operand};
  return node;
}

bool are_constant(std::span<const Dim> dims) {
  return std::ranges::all_of(dims, [](const Dim& dim) { return dim.is_constant(); });
}

bool at_most(const Dim& a, const Dim& b) { return (b - a).lower_bound({}) >= 0; }

}  // namespace inlay::rewrite
