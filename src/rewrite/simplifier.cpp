#include "rewrite/simplifier.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rewrite/fold_literal.h"
#include "rewrite/node_rules.h"
#include "rewrite/rewriter.h"
#include "rewrite/scalar_rules.h"

namespace inlay::rewrite {
namespace {

/// Rules that feed each other, as those of a sigmoid do, make chains of four or five.
constexpr std::size_t kLongestChain = 64;

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
  const int limit = c.dtype == DType::f64 ? 1000 : c.dtype == DType::f16 ? 14 : 120;
  return std::abs(exponent) < limit;  // both far from subnormals
}

bool power_of_two(const Graph&, const Bindings& bindings, char variable) {
  const Literal& c = bindings.literals.at(variable);
  return is_integer(c.dtype) && c.i > 0 && (c.i & (c.i - 1)) == 0;
}

/// Is it neither below zero nor -0.0, however it is computed? (sqrt is not here: sqrt(-0.0) is -0.0.)
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

/// Every value equals itself.
bool integer(const Graph& graph, const Bindings& bindings, char variable) {
  return is_integer(dtype_of(graph, bindings, variable));
}

bool boolean(const Graph& graph, const Bindings& bindings, char variable) {
  return dtype_of(graph, bindings, variable) == DType::boolean;
}

/// Unsigned numbers wrap when negated: abs(neg(5)) of u8 is 251.
bool has_sign(const Graph& graph, const Bindings& bindings, char variable) {
  return !is_unsigned_integer(dtype_of(graph, bindings, variable));
}

/// Do the values between the variable and the root have no other readers? Then they go away; otherwise both versions
/// would be computed.
bool alone(const Graph&, const Bindings& bindings, char) { return bindings.alone; }

struct NamedCondition {
  std::string_view name;
  Condition holds;
};
constexpr NamedCondition kConditions[] = {
    {"exact_reciprocal", exact_reciprocal},
    {"power_of_two", power_of_two},
    {"never_negative", never_negative},
    {"integer", integer},
    {"floating", floating},
    {"boolean", boolean},
    {"has_sign", has_sign},
    {"alone", alone},
};

/// A parsed rule of scalar_rules.h.
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

/// Returns the rules with this op at the root, in the order of the list.
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

/// Is the rule for these dtypes? Rules are for real numbers unless they say otherwise.
bool is_for(const Rule& rule, const Graph& graph, const Bindings& bindings) {
  return rule.complex || std::ranges::none_of(bindings.values, [&](const auto& binding) {
           return is_complex(graph.type(binding.second.value).dtype);
         });
}

/// Returns the dtype of the numbers in a rule.
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

void Simplifier::add_readers(ValueId v, int count) {
  if (v.index >= readers_.size()) readers_.resize(v.index + 1, 0);
  readers_[v.index] += count;
}

bool Simplifier::fires(const char* rule, Close close) {
  if (!context_.fires(rule, close)) return false;
  chain_.push_back(rule);
  INLAY_CHECK(chain_.size() <= kLongestChain,
              "rules that undo each other: ", join(std::span(chain_).last(6), ", then "));
  return true;
}

bool Simplifier::fires() { return fires(asking_->name, asking_->close); }

std::optional<ValueId> Simplifier::simplified(const Node& node, const TensorType& type) {
  const std::size_t length = chain_.size();
  std::optional<ValueId> by = by_node_rule(node, type);
  if (!by && node.op == Op::scalar) by = by_scalar_rule(node.scalar, node.operands, type.dims);
  chain_.resize(length);
  return by;
}

std::optional<ValueId> Simplifier::by_node_rule(const Node& node, const TensorType& type) {
  const NodeRule* outer = std::exchange(asking_, nullptr);
  std::optional<ValueId> by;
  for (const NodeRule& rule : node_rules()) {
    if (rule.op != node.op) continue;
    asking_ = &rule;
    if ((by = rule.apply(*this, node, type))) break;
  }
  asking_ = outer;
  return by;
}

std::optional<ValueId> Simplifier::by_scalar_rule(ScalarOp op, const std::vector<ValueId>& operands,
                                                  const std::vector<Dim>& dims) {
  for (const ReadRule& rule : rules_of(op)) {
    std::optional<Bindings> bindings = matcher_.match(rule.from, op, operands);
    if (!bindings) continue;
    bindings->alone = std::ranges::none_of(bindings->inside, [&](ValueId v) { return num_readers(v) > 1; });
    if (!is_for(*rule.rule, graph(), *bindings)) continue;
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
  const std::optional<std::vector<Dim>> dims = certain_dims(graph(), operands);
  if (!dims) return builder_.scalar(op, std::move(operands));
  Node node{.op = Op::scalar, .scalar = op};
  node.operands = std::move(operands);
  return make(node, {result_dtype(node.scalar, graph().type(node.operands.back()).dtype), *dims});
}

ValueId Simplifier::filled(const Literal& literal, const std::vector<Dim>& dims) {
  if (all_one(dims)) return builder_.literal(std::vector<Literal>{literal}, dims);
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
    case Pattern::Kind::literal:
    case Pattern::Kind::number:
    case Pattern::Kind::boolean: return builder_.literal(*constant(pattern, bindings, dtype));
    case Pattern::Kind::op: {
      if (const std::optional<Literal> known = constant(pattern, bindings, dtype)) return builder_.literal(*known);
      std::vector<ValueId> operands;
      for (const Pattern& operand : pattern.operands) operands.push_back(build(operand, bindings, dtype));
      return scalar(pattern.op, std::move(operands));
    }
  }
  return {};
}

}  // namespace inlay::rewrite
