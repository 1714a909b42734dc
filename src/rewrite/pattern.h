#pragma once
// Patterns: the two sides of a rule, parsed once and matched against a graph.
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace inlay::rewrite {

struct Pattern {
  enum class Kind : uint8_t {
    value,    // x, y, z, p
    literal,  // c, d
    number,   // 0.5
    boolean,  // true
    op,       // exp(x)
  };
  Kind kind = Kind::value;
  char variable = 0;
  double number = 0;
  ScalarOp op = ScalarOp::add_;
  std::vector<Pattern> operands;
};
Pattern parse_pattern(std::string_view text);

/// A value with views still to be applied, the innermost last: log(reshape(exp(x))) binds x to it.
struct Viewed {
  ValueId value;
  std::vector<NodeId> views;
  bool operator==(const Viewed&) const = default;
};

struct Bindings {
  std::map<char, Viewed> values;
  std::map<char, Literal> literals;
  std::vector<ValueId> inside;  // the values of the ops below the root, and the views between them
  bool alone = true;            // nothing else reads those
};

class PatternMatcher {
 public:
  explicit PatternMatcher(const Graph& graph) : graph_(graph) {}

  /// Matches op(operands) with `pattern`. Nothing matches through a node that carries a size check: the check would be
  /// lost.
  std::optional<Bindings> match(const Pattern& pattern, ScalarOp op, const std::vector<ValueId>& operands);

  /// Returns the literal that all elements of `v` are, looking through views.
  std::optional<Literal> splat(ValueId v);

  bool is_checked(NodeId node);

 private:
  bool match(const Pattern& pattern, Viewed found, Bindings& bindings);
  bool match_operands(const Pattern& pattern, const std::vector<ValueId>& operands, const std::vector<NodeId>& views,
                      Bindings& bindings);
  bool has_the_shape_viewed(const Viewed& found) const;
  /// Returns the operand that `v` is a view of, if rules may look through it.
  std::optional<ValueId> viewed_by(ValueId v);

  const Graph& graph_;
  std::vector<bool> checked_;  // by node
  std::size_t checks_read_ = 0;
};

/// Returns the literal of a right side such as c, 0.5, sub(c, 1). Numbers have `dtype`.
std::optional<Literal> constant(const Pattern& pattern, const Bindings& bindings, DType dtype);

bool is_number(const Literal& literal, double number);

}  // namespace inlay::rewrite
