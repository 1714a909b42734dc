// A choice between two results of one op.
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

/// select(p, f(x), f(y)) -> f(select(p, x, y)), where nothing else reads them and one of them has all elements: of a
/// condition that is larger than both the op would be computed more often.
std::optional<ValueId> select_of_one_op(Simplifier& simplifier, const Node& node, const TensorType& type) {
  if (node.scalar != ScalarOp::select_) return std::nullopt;
  const Node *yes = operand_of(simplifier, node, Op::scalar, 1), *no = operand_of(simplifier, node, Op::scalar, 2);
  if (!yes || !no || yes->scalar != no->scalar) return std::nullopt;
  const Graph& graph = simplifier.graph();
  const auto is_apart = [&](ValueId v) { return simplifier.num_readers(v) <= 1; };
  const auto is_whole = [&](ValueId v) { return graph.type(v).dims == type.dims; };
  if (!is_apart(node.operands[1]) || !is_apart(node.operands[2])) return std::nullopt;
  if (!is_whole(node.operands[1]) && !is_whole(node.operands[2])) return std::nullopt;
  std::optional<OneDiffers> found = one_that_differs(*yes, *no);
  if (!found) return std::nullopt;
  const ValueId x = found->yes[found->at], y = found->no[found->at];
  if (graph.type(x).dtype != graph.type(y).dtype || !simplifier.fires()) return std::nullopt;
  const ScalarOp op = yes->scalar;
  found->yes[found->at] = simplifier.scalar(ScalarOp::select_, {node.operands[0], x, y});
  return simplifier.stretched(simplifier.scalar(op, std::move(found->yes)), type.dims);
}

using enum Close;

// clang-format off: a table
constexpr NodeRule kRules[] = {
    // name               from                    to                    how close  op
    {"select-of-one-op", "select(p, f(x), f(y))", "f(select(p, x, y))", bitwise, Op::scalar, select_of_one_op},
};
// clang-format on

}  // namespace

std::span<const NodeRule> select_rules() { return kRules; }

}  // namespace inlay::rewrite
