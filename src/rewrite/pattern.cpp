#include "rewrite/pattern.h"

#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "rewrite/commutative.h"

namespace inlay::rewrite {
namespace {

/// expr = name "(" expr {"," expr} ")" | variable | number | "1/c"
class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  Pattern whole() {
    Pattern out = expression();
    INLAY_CHECK(at_ == text_.size(), "after the expression of a rule: ", text_);
    return out;
  }

 private:
  Pattern expression() {
    const std::string_view word = next_word();
    INLAY_CHECK(!word.empty(), "an expression of a rule: ", text_);
    if (take('(')) return call(word);
    Pattern out;
    if (word == "1/c") {
      out.kind = Pattern::Kind::inverse;
      out.variable = 'c';
    } else if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0]))) {
      out.kind = word == "c" ? Pattern::Kind::literal : Pattern::Kind::value;
      out.variable = word[0];
    } else {
      out.kind = Pattern::Kind::number;
      out.number = std::strtod(std::string(word).c_str(), nullptr);
    }
    return out;
  }

  Pattern call(std::string_view name) {
    const std::optional<ScalarOp> op = scalar_op_from_name(name);
    INLAY_CHECK(op, "no scalar op is named ", name, ": ", text_);
    Pattern out{.kind = Pattern::Kind::op, .op = *op};
    do {
      out.operands.push_back(expression());
    } while (take(','));
    INLAY_CHECK(take(')'), "a call in a rule is not closed: ", text_);
    INLAY_CHECK(static_cast<int>(out.operands.size()) == facts(*op).arity, "operands of ", name, ": ", text_);
    return out;
  }

  std::string_view next_word() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_.find_first_of("(), ", at_) != at_) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool take(char symbol) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size() || text_[at_] != symbol) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_view(Op op) {
  return op == Op::broadcast || op == Op::reshape || op == Op::transpose || op == Op::flip || op == Op::slice;
}

}  // namespace

Pattern parse_pattern(std::string_view text) { return PatternParser(text).whole(); }

bool is_number(const Literal& literal, double number) {
  if (is_float(literal.dtype)) return std::bit_cast<uint64_t>(literal.f) == std::bit_cast<uint64_t>(number);
  if (number != std::trunc(number) || std::abs(number) > 16) return false;  // rules speak of small integers only
  if (number < 0 && !is_signed_integer(literal.dtype)) return false;
  return literal.i == static_cast<int64_t>(number);
}

bool Matcher::is_checked(NodeId node) {
  for (; checks_read_ < graph_.checks.size(); ++checks_read_) {
    const NodeId at = graph_.checks[checks_read_].node;
    if (!at.valid()) continue;
    if (at.index >= checked_.size()) checked_.resize(at.index + 1, false);
    checked_[at.index] = true;
  }
  return node.index < checked_.size() && checked_[node.index];
}

std::optional<ValueId> Matcher::viewed_by(ValueId v) {
  const Node* node = graph_.node_of(v);
  if (!node || !is_view(node->op) || is_checked(graph_.values[v].node)) return std::nullopt;
  return node->operands[0];
}

std::optional<Literal> Matcher::splat(ValueId v) {
  while (const std::optional<ValueId> inner = viewed_by(v)) v = *inner;
  const Node* node = graph_.node_of(v);
  if (!node || node->op != Op::literal) return std::nullopt;
  for (const Literal& element : node->elements) {
    if (!element.same_bits(node->elements[0])) return std::nullopt;
  }
  return node->elements[0];
}

std::optional<Bindings> Matcher::match(const Pattern& pattern, ScalarOp op, const std::vector<ValueId>& operands) {
  if (pattern.kind != Pattern::Kind::op || pattern.op != op) return std::nullopt;
  Bindings bindings;
  if (!match_operands(pattern, operands, {}, bindings)) return std::nullopt;
  return bindings;
}

bool Matcher::match_operands(const Pattern& pattern, const std::vector<ValueId>& operands,
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

bool Matcher::match(const Pattern& pattern, Viewed found, Bindings& bindings) {
  switch (pattern.kind) {
    case Pattern::Kind::value: {
      // A view of op(a, b) is op(view a, view b) only where a and b have the shape that is viewed.
      if (!found.views.empty()) {
        const ValueId viewed = graph_.nodes[found.views.back()].operands[0];
        if (graph_.type(found.value).dims != graph_.type(viewed).dims) return false;
      }
      const auto [at, is_new] = bindings.values.emplace(pattern.variable, found);
      return is_new || at->second == found;
    }
    case Pattern::Kind::literal:
    case Pattern::Kind::number: {
      const std::optional<Literal> literal = splat(found.value);
      if (!literal) return false;
      if (pattern.kind == Pattern::Kind::number) return is_number(*literal, pattern.number);
      const auto [at, is_new] = bindings.literals.emplace(pattern.variable, *literal);
      return is_new || at->second == *literal;
    }
    case Pattern::Kind::inverse: return false;  // stands on the right side of a rule only
    case Pattern::Kind::op: break;
  }

  while (const std::optional<ValueId> inner = viewed_by(found.value)) {
    found.views.push_back(graph_.values[found.value].node);
    found.value = *inner;
  }
  const Node* node = graph_.node_of(found.value);
  if (!node || node->op != Op::scalar || node->scalar != pattern.op) return false;
  if (is_checked(graph_.values[found.value].node)) return false;
  return match_operands(pattern, node->operands, found.views, bindings);
}

}  // namespace inlay::rewrite
