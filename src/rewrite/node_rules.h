#pragma once
// Rules that need code: views of views, known values, regions, sums. Each is a row of a list with a function.
#include <span>

#include "rewrite/simplifier.h"

namespace inlay::rewrite {

/// Returns the replacement of `node`; nothing if the rule does not match, and then it has built nothing. Asks
/// `simplifier.fires()` last before it builds.
using NodeFunction = std::optional<ValueId> (*)(Simplifier& simplifier, const Node& node, const TensorType& type);

struct NodeRule {
  const char* name;
  const char* from;  // for the reader
  const char* to;
  Close close;
  Op op;  // of the node that is rewritten
  NodeFunction apply;
};

std::span<const NodeRule> literal_rules();  // known values
std::span<const NodeRule> view_rules();     // views of views
std::span<const NodeRule> region_rules();   // slices, updates and concatenations
std::span<const NodeRule> sum_rules();      // sums, and logarithms of them
std::span<const NodeRule> extreme_rules();  // maxima and minima
std::span<const NodeRule> select_rules();   // choices between two results of one op

/// Returns all of them, in the order in which they are tried.
const std::vector<NodeRule>& node_rules();

// For the rules.

/// Returns the node that makes `v`, if it is an `op` that rules may look through, else null.
const Node* made_by(Simplifier& simplifier, ValueId v, Op op);
/// Returns the node that makes `node`'s operand, if it is an `op` that rules may look through, else null.
const Node* operand_of(Simplifier& simplifier, const Node& node, Op op, std::size_t operand = 0);
Node unary(Op op, ValueId operand);
bool are_constant(std::span<const Dim> dims);
/// Is a <= b for all sizes, as far as can be proved?
bool at_most(const Dim& a, const Dim& b);

}  // namespace inlay::rewrite
