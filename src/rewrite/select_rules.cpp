// Rules for a select between two results of one op.
#include <array>

#include "rewrite/commutative.h"
#include "rewrite/node_rules.h"

namespace inlay::rewrite {
namespace {

/// The operands of two nodes of one op, in an order in which all but one are the same.
struct OneDiffers {
  std::vector<ValueId> yes, no;
  std::size_t at;
};

std::optional<OneDiffers> one_that_differs(std::vector<ValueId> yes, std::vector<ValueId> no) {
  std::optional<std::size_t> at;
  for (std::size_t i = 0; i < yes.size(); ++i) {
    if (yes[i] == no[i]) continue;
    if (at) return std::nullopt;
    at = i;
  }
  if (!at) return std::nullopt;
  return OneDiffers{std::move(yes), std::move(no), *at};
}

std::optional<OneDiffers> one_that_differs(const Node& yes, const Node& no) {
  std::optional<OneDiffers> found = one_that_differs(yes.operands, no.operands);
  if (found || !is_commutative(yes.scalar)) return found;
  return one_that_differs(yes.operands, {no.operands[1], no.operands[0]});
}

/// What both sides of a select do to the operand in which they differ.
struct Step {
  ScalarOp op;
  std::vector<ValueId> operands;
  std::size_t at;
};

/// Removes the common last op of two float values without other readers, and leaves its operands in `differ`. (Integer
/// divisions are often by constants, and then no longer would be; an integer power can fail.)
std::optional<Step> common_step(Simplifier& simplifier, std::array<ValueId, 2>& differ) {
  const Graph& graph = simplifier.graph();
  const Node *yes = made_by(simplifier, differ[0], Op::scalar), *no = made_by(simplifier, differ[1], Op::scalar);
  if (!yes || !no || yes->scalar != no->scalar) return std::nullopt;
  if (simplifier.num_readers(differ[0]) > 1 || simplifier.num_readers(differ[1]) > 1) return std::nullopt;
  std::optional<OneDiffers> found = one_that_differs(*yes, *no);
  if (!found) return std::nullopt;
  const ValueId x = found->yes[found->at], y = found->no[found->at];
  if (!is_float(graph.type(x).dtype) || graph.type(x).dtype != graph.type(y).dtype) return std::nullopt;
  differ = {x, y};
  return Step{yes->scalar, std::move(found->yes), found->at};
}

/// select(p, f(x), f(y)) -> f(select(p, x, y)), for all common ops at once. One of the two must have the shape of the
/// result: with a larger condition the op would be computed more often. Not in a body, where a loop would compute what
/// is invariant.
std::optional<ValueId> select_of_one_op(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Graph& graph = simplifier.graph();
  if (node.scalar != ScalarOp::select_ || graph.is_body) return std::nullopt;
  std::array<ValueId, 2> differ = {node.operands[1], node.operands[2]};
  std::vector<Step> steps;
  const auto is_whole = [&](ValueId v) { return graph.type(v).dims == type.dims; };
  while (is_whole(differ[0]) || is_whole(differ[1])) {
    std::optional<Step> step = common_step(simplifier, differ);
    if (!step) break;
    steps.push_back(std::move(*step));
  }
  if (steps.empty() || !simplifier.fires()) return std::nullopt;
  ValueId v = simplifier.scalar(ScalarOp::select_, {node.operands[0], differ[0], differ[1]});
  while (!steps.empty()) {
    Step step = std::move(steps.back());
    steps.pop_back();
    step.operands[step.at] = v;
    v = simplifier.scalar(step.op, std::move(step.operands));
  }
  return simplifier.stretched(v, type.dims);
}

using enum Close;

// clang-format off: a table
constexpr NodeRule kRules[] = {
    // name               from                    to                    how close  op
    {"select-of-one-op", "select(p, f(x), f(y))", "f(select(p, x, y)), of floats", bitwise, Op::scalar, select_of_one_op},
};
// clang-format on

}  // namespace

std::span<const NodeRule> select_rules() { return kRules; }

}  // namespace inlay::rewrite
