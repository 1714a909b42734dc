#include "rewrite/node_rules.h"

#include <algorithm>

namespace inlay::rewrite {

const std::vector<NodeRule>& node_rules() {
  static const std::vector<NodeRule> kAll = [] {
    std::vector<NodeRule> all;
    for (const auto& family : {literal_rules(), view_rules(), region_rules(), sum_rules()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kAll;
}

const Node* operand_of(Simplifier& simplifier, const Node& node, Op op, std::size_t operand) {
  const Node* inner = simplifier.graph().node_of(node.operands[operand]);
  if (!inner || inner->op != op) return nullptr;
  return simplifier.matcher().is_checked(simplifier.graph().values[node.operands[operand]].node) ? nullptr : inner;
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
