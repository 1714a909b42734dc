#include "rewrite/pattern.h"

#include <bit>
#include <cmath>

#include "ir/traits.h"
#include "ops/expression.h"
#include "rewrite/commutative.h"
#include "rewrite/fold_literal.h"

namespace inlay::rewrite {
namespace {

Pattern from_expression(const Expression& expression) {
  Pattern out;
  switch (expression.kind) {
    case Expression::Kind::op:
      out.kind = Pattern::Kind::op;
      out.op = expression.op;
      for (const Expression& operand : expression.operands) out.operands.push_back(from_expression(operand));
      return out;
    case Expression::Kind::number:
      out.kind = Pattern::Kind::number;
      out.number = expression.number;
      return out;
    case Expression::Kind::word: break;
  }
  if (expression.word == "true" || expression.word == "false") {
    out.kind = Pattern::Kind::boolean;
    out.number = expression.word == "true" ? 1 : 0;
    return out;
  }
  INLAY_CHECK(expression.word.size() == 1, "a rule's variable: ", expression.word);
  const bool is_literal = expression.word == "c" || expression.word == "d";
  out.kind = is_literal ? Pattern::Kind::literal : Pattern::Kind::value;
  out.variable = expression.word[0];
  return out;
}

}  // namespace

Pattern parse_pattern(std::string_view text) { return from_expression(parse_expression(text)); }

std::optional<Literal> constant(const Pattern& pattern, const Bindings& bindings, DType dtype) {
  switch (pattern.kind) {
    case Pattern::Kind::value: return std::nullopt;
    case Pattern::Kind::literal: return bindings.literals.at(pattern.variable);
    case Pattern::Kind::number: return Literal::of(dtype, pattern.number);
    case Pattern::Kind::boolean: return Literal::of(DType::boolean, pattern.number);
    case Pattern::Kind::op: break;
  }
  std::vector<Literal> operands;
  for (const Pattern& operand : pattern.operands) {
    const std::optional<Literal> known = constant(operand, bindings, dtype);
    if (!known) return std::nullopt;
    operands.push_back(*known);
  }
  return fold_scalar(pattern.op, operands);
}

bool is_number(const Literal& literal, double number) {
  if (is_complex(literal.dtype) && std::bit_cast<uint64_t>(literal.imaginary) != 0) return false;
  if (is_float(literal.dtype) || is_complex(literal.dtype))
    return std::bit_cast<uint64_t>(literal.f) == std::bit_cast<uint64_t>(number);
  if (number != std::trunc(number) || std::abs(number) > 16) return false;  // rules speak of small integers only
  if (number < 0 && !is_signed_integer(literal.dtype)) return false;
  return literal.i == static_cast<int64_t>(number);
}

bool PatternMatcher::is_checked(NodeId node) {
  for (; checks_read_ < graph_.checks.size(); ++checks_read_) {
    const NodeId at = graph_.checks[checks_read_].node;
    if (!at.valid()) continue;
    if (at.index >= checked_.size()) checked_.resize(at.index + 1, false);
    checked_[at.index] = true;
  }
  return node.index < checked_.size() && checked_[node.index];
}

std::optional<ValueId> PatternMatcher::viewed_by(ValueId v) {
  const Node* node = graph_.node_of(v);
  if (!node || !is_view(node->op) || is_checked(graph_.values[v].node)) return std::nullopt;
  return node->operands[0];
}

std::optional<Literal> PatternMatcher::splat(ValueId v) {
  return inlay::splat(
      graph_, v, [&](ValueId at) { return is_view(graph_.node_of(at)->op) && is_checked(graph_.values[at].node); });
}

std::optional<Bindings> PatternMatcher::match(const Pattern& pattern, ScalarOp op,
                                              const std::vector<ValueId>& operands) {
  if (pattern.kind != Pattern::Kind::op || pattern.op != op) return std::nullopt;
  Bindings bindings;
  if (!match_operands(pattern, operands, {}, bindings)) return std::nullopt;
  return bindings;
}

bool PatternMatcher::match_operands(const Pattern& pattern, const std::vector<ValueId>& operands,
                                    const std::vector<NodeId>& views, Bindings& bindings) {
  const auto in_order = [&](std::initializer_list<std::size_t> order) {
    Bindings attempt = bindings;
    std::size_t at = 0;
    for (std::size_t operand : order) {
      if (!match(pattern.operands[at++], Viewed{operands[operand], views}, attempt)) return false;
    }
    bindings = std::move(attempt);
    return true;
  };
  switch (operands.size()) {
    case 1: return in_order({0});
    case 2: return in_order({0, 1}) || (is_commutative(pattern.op) && in_order({1, 0}));
    case 3: return in_order({0, 1, 2});
  }
  return false;
}

/// A view of op(a, b) is op(view a, view b) only where a and b have the shape that is viewed.
bool PatternMatcher::has_the_shape_viewed(const Viewed& found) const {
  if (found.views.empty()) return true;
  const ValueId viewed = graph_.nodes[found.views.back()].operands[0];
  return graph_.type(found.value).dims == graph_.type(viewed).dims;
}

bool PatternMatcher::match(const Pattern& pattern, Viewed found, Bindings& bindings) {
  switch (pattern.kind) {
    case Pattern::Kind::value: {
      if (!has_the_shape_viewed(found)) return false;
      const auto [at, is_new] = bindings.values.emplace(pattern.variable, found);
      return is_new || at->second == found;
    }
    case Pattern::Kind::literal:
    case Pattern::Kind::number:
    case Pattern::Kind::boolean: {
      const std::optional<Literal> literal = splat(found.value);
      if (!literal || (pattern.kind == Pattern::Kind::boolean && literal->dtype != DType::boolean)) return false;
      if (pattern.kind != Pattern::Kind::literal) return is_number(*literal, pattern.number);
      const auto [at, is_new] = bindings.literals.emplace(pattern.variable, *literal);
      return is_new || at->second == *literal;
    }
    case Pattern::Kind::op: break;
  }
  if (!has_the_shape_viewed(found)) return false;

  bindings.inside.push_back(found.value);
  while (const std::optional<ValueId> inner = viewed_by(found.value)) {
    found.views.push_back(graph_.values[found.value].node);
    found.value = *inner;
    bindings.inside.push_back(found.value);
  }
  const Node* node = graph_.node_of(found.value);
  if (!node || node->op != Op::scalar || node->scalar != pattern.op) return false;
  if (is_checked(graph_.values[found.value].node)) return false;
  return match_operands(pattern, node->operands, found.views, bindings);
}

}  // namespace inlay::rewrite
