#include <cmath>

#include "rewrite/fold_matcher.h"

namespace inlay::rewrite {

namespace {

/// A sum, and its divisor, a size.
struct Quotient {
  ValueId sum;
  Dim by;
};

class VarianceMatcher {
 public:
  explicit VarianceMatcher(const FoldGraph& in) : in_(in), graph_(in.graph) {}

  std::optional<FoundFold> match(const Node& sum) const {
    const Node* square = in_.summed(sum);
    const std::optional<ValueId> squared = square ? squared_by(*square) : std::nullopt;
    const Node* difference = squared ? in_.scalar(*squared, ScalarOp::sub_) : nullptr;
    if (!difference) return std::nullopt;
    for (const std::size_t x : {0U, 1U}) {
      if (const auto fold = about(difference->operands[x], difference->operands[1 - x], sum)) return fold;
    }
    return std::nullopt;
  }

 private:
  static std::optional<ValueId> squared_by(const Node& node) {
    if (node.op != Op::scalar) return std::nullopt;
    const bool is_product = node.scalar == ScalarOp::mul_ && node.operands[0] == node.operands[1];
    return is_product || node.scalar == ScalarOp::square_ ? std::optional(node.operands[0]) : std::nullopt;
  }

  /// Matches x - `mean` if `mean` is the mean of x: the sum of all its elements, divided by their number. (Its rounding
  /// does not matter, since it is not used, unless it rounds to less than x has: then each square gains something.)
  std::optional<FoundFold> about(ValueId x, ValueId mean, const Node& squares) const {
    const std::optional<Quotient> quotient = quotient_of(mean, graph_.type(before_widening(x)).dtype);
    if (!quotient) return std::nullopt;
    const ValueId summed = graph_.node_of(quotient->sum)->operands[0];
    const DType dtype = graph_.type(quotient->sum).dtype;
    if (dtype != graph_.type(squares.results[0]).dtype || before_widening(summed) != before_widening(x)) return {};
    if (same_dim(quotient->by, product(graph_.type(summed).dims)) != Answer::yes) return std::nullopt;
    return FoundFold{Fold::moments, quotient->sum, summed};
  }

  ValueId before_widening(ValueId v) const {
    const Node* node = graph_.node_of(v);
    const bool widens = node && node->op == Op::cast && graph_.type(v).dtype == DType::f64 &&
                        graph_.type(node->operands[0]).dtype == DType::f32;
    return widens ? node->operands[0] : v;
  }

  /// Matches a quotient. `minimum` is the narrowest dtype allowed: a narrower one rounds on purpose.
  std::optional<Quotient> quotient_of(ValueId v, DType minimum) const {
    v = in_.element(v);
    const Node* node = graph_.node_of(v);
    if (!node || size_bytes(graph_.type(v).dtype) < size_bytes(minimum)) return std::nullopt;
    if (node->op == Op::cast && is_float(graph_.type(node->operands[0]).dtype)) {
      return quotient_of(node->operands[0], minimum);
    }
    if (node->op == Op::reduce) {
      const bool is_sum = in_.is_whole(*node) && node->fold == Fold::add;
      return is_sum ? std::optional(Quotient{v, 1}) : std::nullopt;
    }
    if (node->op != Op::scalar) return std::nullopt;
    const bool divides = node->scalar == ScalarOp::div_;
    if (!divides && node->scalar != ScalarOp::mul_) return std::nullopt;
    for (const std::size_t of : {0U, 1U}) {
      if (divides && of == 1) break;
      const ValueId other = node->operands[1 - of];
      if (!has_one_element(graph_.type(in_.element(other)))) continue;
      const std::optional<Dim> by = divides ? size_of(other) : size_of_reciprocal(other);
      std::optional<Quotient> quotient = by ? quotient_of(node->operands[of], minimum) : std::nullopt;
      if (!quotient) continue;
      quotient->by = quotient->by * *by;
      return quotient;
    }
    return std::nullopt;
  }

  std::optional<Literal> literal(ValueId v, int64_t at = 0) const {
    const Node* node = graph_.node_of(in_.element(v));
    if (!node || node->op != Op::literal || at >= static_cast<int64_t>(node->elements.size())) return std::nullopt;
    return node->elements[static_cast<std::size_t>(at)];
  }

  /// Returns the size whose reciprocal it is, rounded to its dtype.
  std::optional<Dim> size_of_reciprocal(ValueId v) const {
    const std::optional<Literal> known = literal(v);
    if (!known || !is_float(known->dtype) || !(known->f > 0)) return std::nullopt;
    constexpr double kGreatest = 0x1p53;
    const double size = std::round(1 / known->f);
    if (size > kGreatest || !Literal::of(known->dtype, 1 / size).same_bits(*known)) return std::nullopt;
    return Dim(static_cast<int64_t>(size));
  }

  /// Not dtypes that wrap sizes, or round many of them.
  static bool holds_sizes(DType dtype) { return dtype == DType::i64 || dtype == DType::f32 || dtype == DType::f64; }

  /// Returns the size that element `at` of a scalar or vector is.
  std::optional<Dim> size_of(ValueId v, int64_t at = 0) const {
    if (at == 0 && has_one_element(graph_.type(in_.element(v)))) v = in_.element(v);
    const Node* node = graph_.node_of(v);
    if (!node) return std::nullopt;
    switch (node->op) {
      case Op::size: return node->size;
      case Op::cast: return holds_sizes(graph_.type(v).dtype) ? size_of(node->operands[0], at) : std::nullopt;
      case Op::literal: {
        const std::optional<Literal> known = literal(v, at);
        return known ? size_of(*known) : std::nullopt;
      }
      case Op::scalar: {
        if (node->scalar != ScalarOp::mul_) return std::nullopt;
        const std::optional<Dim> left = size_of(node->operands[0]), right = size_of(node->operands[1]);
        const bool is_number = has_one_element(graph_.type(v)) && holds_sizes(graph_.type(v).dtype);
        return is_number && left && right ? std::optional(*left * *right) : std::nullopt;
      }
      case Op::slice: {
        if (node->index.size() != 1 || node->index[0].kind != IndexItem::Kind::position) return std::nullopt;
        const Dim& position = node->index[0].position;
        return position.is_constant() ? size_of(node->operands[0], position.constant()) : std::nullopt;
      }
      case Op::concat: {
        for (ValueId part : node->operands) {
          const Dim length = graph_.type(part).dims[0];
          if (!length.is_constant() || graph_.type(part).rank() != 1) return std::nullopt;
          if (at < length.constant()) return size_of(part, at);
          at -= length.constant();
        }
        return std::nullopt;
      }
      default: return std::nullopt;
    }
  }

  static std::optional<Dim> size_of(const Literal& literal) {
    if (!is_float(literal.dtype)) return literal.i >= 0 ? std::optional(Dim(literal.i)) : std::nullopt;
    const bool is_size = literal.f >= 0 && literal.f < 0x1p53 && literal.f == std::floor(literal.f);
    return is_size ? std::optional(Dim(static_cast<int64_t>(literal.f))) : std::nullopt;
  }

  const FoldGraph& in_;
  const Graph& graph_;
};

}  // namespace

std::optional<FoundFold> match_moments(const FoldGraph& in, const Node& sum) { return VarianceMatcher(in).match(sum); }

}  // namespace inlay::rewrite
