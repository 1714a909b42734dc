#include "rewrite/simplifier.h"

#include <algorithm>
#include <cmath>

#include "rewrite/fold_literal.h"
#include "rewrite/rewriter.h"
#include "rewrite/scalar_rules.h"
#include "rewrite/view_rules.h"

namespace inlay::rewrite {
namespace {

using Condition = bool (*)(const Graph& graph, const Bindings& bindings, char variable);

DType dtype_of(const Graph& graph, const Bindings& bindings, char variable) {
  return graph.type(bindings.values.at(variable).value).dtype;
}

/// 1/c is exact: c is a power of two whose reciprocal is one too.
bool exact_reciprocal(const Graph&, const Bindings& bindings, char variable) {
  const Literal& c = bindings.literals.at(variable);
  if (!is_float(c.dtype) || c.f == 0 || !std::isfinite(c.f)) return false;
  int exponent = 0;
  if (std::abs(std::frexp(c.f, &exponent)) != 0.5) return false;
  return std::abs(exponent) < (c.dtype == DType::f64 ? 1000 : 120);  // both far from subnormals
}

/// Neither below zero nor -0.0, whatever it is made of. (sqrt is not here: sqrt(-0.0) is -0.0.)
bool never_negative(const Graph& graph, const Bindings& bindings, char variable) {
  const Node* node = graph.node_of(bindings.values.at(variable).value);
  if (!node || node->op != Op::scalar) return false;
  constexpr ScalarOp kOps[] = {ScalarOp::abs_,     ScalarOp::square_,   ScalarOp::exp_,  ScalarOp::exp2_,
                               ScalarOp::sigmoid_, ScalarOp::softplus_, ScalarOp::cosh_, ScalarOp::erfc_};
  return std::ranges::find(kOps, node->scalar) != std::end(kOps);
}

bool floating(const Graph& graph, const Bindings& bindings, char variable) {
  return is_float(dtype_of(graph, bindings, variable));
}

bool boolean(const Graph& graph, const Bindings& bindings, char variable) {
  return dtype_of(graph, bindings, variable) == DType::boolean;
}

/// Unsigned numbers wrap when negated: abs(neg(5)) of u8 is 251.
bool has_sign(const Graph& graph, const Bindings& bindings, char variable) {
  return !is_unsigned_integer(dtype_of(graph, bindings, variable));
}

/// One element, or more of them for some sizes.
bool one(const Graph& graph, const Bindings& bindings, char variable) {
  return std::ranges::all_of(graph.type(bindings.values.at(variable).value).dims,
                             [](const Dim& dim) { return dim.is(1); });
}
bool many(const Graph& graph, const Bindings& bindings, char variable) { return !one(graph, bindings, variable); }

struct NamedCondition {
  std::string_view name;
  Condition holds;
};
constexpr NamedCondition kConditions[] = {
    {"exact_reciprocal", exact_reciprocal},
    {"never_negative", never_negative},
    {"floating", floating},
    {"boolean", boolean},
    {"has_sign", has_sign},
    {"one", one},
    {"many", many},
};

/// A rule of scalar_rules.h, read.
struct ReadRule {
  const Rule* rule = nullptr;
  Pattern from, to;
  std::vector<std::pair<Condition, char>> conditions;
};

/// "floating(x) and exact_reciprocal(c)"
std::vector<std::pair<Condition, char>> read_conditions(std::string_view text) {
  std::vector<std::pair<Condition, char>> out;
  while (!text.empty()) {
    const std::size_t end = text.find(" and ");
    const std::string_view one = text.substr(0, end);
    const std::size_t open = one.find('(');
    const auto* found = std::ranges::find(kConditions, one.substr(0, open), &NamedCondition::name);
    INLAY_CHECK(found != std::end(kConditions) && open + 3 == one.size(), "a condition of a rule: ", one);
    out.emplace_back(found->holds, one[open + 1]);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 5);
  }
  return out;
}

/// By the op at their root, in the order of the list.
const std::vector<ReadRule>& rules_of(ScalarOp op) {
  static const std::vector<std::vector<ReadRule>> kByOp = [] {
    std::vector<std::vector<ReadRule>> by_op(kNumScalarOps);
    for (const Rule& rule : scalar_rules()) {
      ReadRule read{&rule, parse_pattern(rule.from), parse_pattern(rule.to), read_conditions(rule.when)};
      const auto root = static_cast<std::size_t>(read.from.op);
      by_op[root].push_back(std::move(read));
    }
    return by_op;
  }();
  return kByOp[static_cast<std::size_t>(op)];
}

/// The dtype that the numbers of a rule have.
DType operand_dtype(const Graph& graph, const std::vector<ValueId>& operands) {
  return graph.type(operands.back()).dtype;
}

}  // namespace

std::optional<std::vector<Dim>> certain_dims(const Graph& graph, const std::vector<ValueId>& operands) {
  std::vector<Dim> out;
  for (ValueId v : operands) {
    const std::vector<Dim>& dims = graph.type(v).dims;
    if (dims.size() > out.size()) out.insert(out.begin(), dims.size() - out.size(), Dim(1));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      Dim& wide = out[out.size() - dims.size() + i];
      if (wide.is(1)) {
        wide = dims[i];
      } else if (!dims[i].is(1) && wide != dims[i]) {
        return std::nullopt;
      }
    }
  }
  return out;
}

bool Simplifier::fires(const char* rule, Close close) {
  if (close > context_.options().farthest) return false;
  if (std::ranges::find(context_.options().disabled_rules, rule) != context_.options().disabled_rules.end())
    return false;
  if (!context_.may_rewrite()) return false;
  context_.count(rule);
  return true;
}

std::optional<ValueId> Simplifier::simplified(const Node& node, const TensorType& type) {
  if (node.op == Op::scalar) return simplified_scalar(node.scalar, node.operands, type.dims);
  for (const NamedNodeRule& rule : node_rules()) {
    if (rule.op != node.op) continue;
    if (const std::optional<ValueId> by = rule.apply(*this, node, type)) return by;
  }
  return std::nullopt;
}

std::optional<ValueId> Simplifier::simplified_scalar(ScalarOp op, const std::vector<ValueId>& operands,
                                                     const std::vector<Dim>& dims) {
  std::vector<Literal> literals;
  for (ValueId v : operands) {
    if (const std::optional<Literal> literal = matcher_.splat(v)) literals.push_back(*literal);
  }
  if (literals.size() == operands.size()) {
    const std::optional<Literal> folded = fold_scalar(op, literals);
    if (folded && fires("fold", Close::rounding)) return filled(*folded, dims);
  }
  for (const ReadRule& rule : rules_of(op)) {
    const std::optional<Bindings> bindings = matcher_.match(rule.from, op, operands);
    if (!bindings) continue;
    const auto holds = [&](const auto& condition) { return condition.first(graph(), *bindings, condition.second); };
    if (!std::ranges::all_of(rule.conditions, holds)) continue;
    if (!fires(rule.rule->name, rule.rule->close)) continue;
    return stretched(build(rule.to, *bindings, operand_dtype(graph(), operands)), dims);
  }
  return std::nullopt;
}

ValueId Simplifier::make(const Node& node, const TensorType& type) {
  if (const std::optional<ValueId> by = simplified(node, type)) return *by;
  return rebuild(builder_, node, {type})[0];
}

ValueId Simplifier::scalar(ScalarOp op, std::vector<ValueId> operands) {
  if (const std::optional<std::vector<Dim>> dims = certain_dims(graph(), operands)) {
    if (const std::optional<ValueId> by = simplified_scalar(op, operands, *dims)) return *by;
  }
  return builder_.scalar(op, std::move(operands));
}

ValueId Simplifier::filled(const Literal& literal, const std::vector<Dim>& dims) {
  const bool one = std::ranges::all_of(dims, [](const Dim& dim) { return dim.is(1); });
  if (one) return builder_.literal(std::vector<Literal>{literal}, dims);
  return builder_.broadcast(builder_.literal(literal), dims);
}

ValueId Simplifier::stretched(ValueId v, const std::vector<Dim>& dims) {
  if (graph().type(v).dims == dims) return v;
  Node node{.op = Op::broadcast};
  node.operands = {v};
  return make(node, {graph().type(v).dtype, dims});
}

ValueId Simplifier::build(const Pattern& pattern, const Bindings& bindings, DType dtype) {
  switch (pattern.kind) {
    case Pattern::Kind::value: {
      const Viewed& found = bindings.values.at(pattern.variable);
      ValueId v = found.value;
      for (auto view = found.views.rbegin(); view != found.views.rend(); ++view) {
        Node node = graph().nodes[*view];
        const TensorType type{graph().type(v).dtype, graph().type(node.results[0]).dims};
        node.operands = {v};
        v = make(node, type);
      }
      return v;
    }
    case Pattern::Kind::literal: return builder_.literal(bindings.literals.at(pattern.variable));
    case Pattern::Kind::inverse: {
      const Literal& c = bindings.literals.at(pattern.variable);
      return builder_.literal(Literal::of_float(c.dtype, 1 / c.f));
    }
    case Pattern::Kind::number: return builder_.literal(Literal::of(dtype, pattern.number));
    case Pattern::Kind::op: {
      std::vector<ValueId> operands;
      for (const Pattern& operand : pattern.operands) operands.push_back(build(operand, bindings, dtype));
      return scalar(pattern.op, std::move(operands));
    }
  }
  return {};
}

}  // namespace inlay::rewrite
