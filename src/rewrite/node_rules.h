#pragma once
// Rules that need code: views of views, what is known already, regions, sums. Each is a row of a list with a function.
#include <span>

#include "rewrite/simplifier.h"

namespace inlay::rewrite {

/// What stands for `node`; none where the rule does not fit, and then nothing was built. Asks `simplifier.fires()` as
/// its last question before it builds.
using NodeFunction = std::optional<ValueId> (*)(Simplifier& simplifier, const Node& node, const TensorType& type);

struct NodeRule {
  const char* name;
  const char* from;  // for the reader
  const char* to;
  Close close;
  Op op;  // of the node that is rewritten
  NodeFunction apply;
};

std::span<const NodeRule> literal_rules();  // what is known already
std::span<const NodeRule> view_rules();     // views of views
std::span<const NodeRule> region_rules();   // slices, updates and concatenations
std::span<const NodeRule> sum_rules();      // sums, and logarithms of them
std::span<const NodeRule> extreme_rules();  // maxima and minima
std::span<const NodeRule> select_rules();   // choices between two results of one op

/// All of them, in the order in which they are tried.
const std::vector<NodeRule>& node_rules();

// For the rules.

/// The node that makes `v`, if it is an `op` that may be looked through.
const Node* made_by(Simplifier& simplifier, ValueId v, Op op);
/// The node of `node`'s operand, if it is an `op` that may be looked through.
const Node* operand_of(Simplifier& simplifier, const Node& node, Op op, std::size_t operand = 0);
Node unary(Op op, ValueId operand);
bool are_constant(std::span<const Dim> dims);
/// a <= b for all sizes, as far as can be seen.
bool at_most(const Dim& a, const Dim& b);

}  // namespace inlay::rewrite
