// Computes known values: scalars of any shape, and tensors of up to 16 elements.
#include <algorithm>
#include <functional>

#include "ir/positions.h"
#include "ir/traits.h"
#include "ops/vector_functions.h"
#include "rewrite/fold_literal.h"
#include "rewrite/node_rules.h"

namespace inlay::rewrite {
namespace {

constexpr int64_t kMostElements = 16;

/// Row-major, like a literal.
struct Known {
  std::vector<int64_t> dims;
  std::vector<Literal> elements;
};

/// Returns the dims as numbers; nothing if they are not known, or have too many elements.
std::optional<std::vector<int64_t>> short_dims(std::span<const Dim> dims) { return constant_dims(dims, kMostElements); }

/// Returns the element at `at`, which may have additional leading axes; axes of one element broadcast.
const Literal& element(const Known& x, const Position& at) { return x.elements[broadcast_index(x.dims, at)]; }

/// Returns a literal, or the literal that `v` broadcasts. (Every other view of a literal is a literal by now.)
std::optional<Known> known(Simplifier& simplifier, ValueId v) {
  const Node* node = simplifier.graph().node_of(v);
  if (!node || simplifier.matcher().is_checked(simplifier.graph().values[v].node)) return std::nullopt;
  const auto dims = short_dims(simplifier.graph().type(v).dims);
  if (!dims) return std::nullopt;
  if (node->op == Op::literal) return Known{*dims, node->elements};
  if (node->op != Op::broadcast) return std::nullopt;
  const std::optional<Known> narrow = known(simplifier, node->operands[0]);
  if (!narrow) return std::nullopt;
  Known out{*dims, {}};
  for_each_position(*dims, [&](const Position& at) { out.elements.push_back(element(*narrow, at)); });
  return out;
}

/// The value of an op whose operands are known; none of what the vector math computes, so that a constant is the number
/// that the same operand gives as an argument, on each CPU its own.
std::optional<Literal> as_at_run_time(ScalarOp op, std::span<const Literal> operands) {
  return has_vector_form(op, operands.back().dtype) ? std::nullopt : fold_scalar(op, operands);
}

/// op(splats) -> splat
std::optional<ValueId> fold(Simplifier& simplifier, const Node& node, const TensorType& type) {
  std::vector<Literal> literals;
  for (ValueId v : node.operands) {
    const std::optional<Literal> literal = simplifier.matcher().splat(v);
    if (!literal) return std::nullopt;
    literals.push_back(*literal);
  }
  const std::optional<Literal> folded = as_at_run_time(node.scalar, literals);
  if (!folded || !simplifier.fires()) return std::nullopt;
  return simplifier.filled(*folded, type.dims);
}

/// op(literals) -> literal, element by element
std::optional<ValueId> fold_elements(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const auto dims = short_dims(type.dims);
  std::vector<Known> operands;
  for (ValueId v : node.operands) {
    std::optional<Known> operand = dims ? known(simplifier, v) : std::nullopt;
    if (!operand) return std::nullopt;
    operands.push_back(std::move(*operand));
  }
  std::vector<Literal> out;
  for_each_position(*dims, [&](const Position& at) {
    std::vector<Literal> literals;
    for (const Known& operand : operands) literals.push_back(element(operand, at));
    if (const auto folded = as_at_run_time(node.scalar, literals)) out.push_back(*folded);
  });
  if (out.empty() || static_cast<int64_t>(out.size()) != num_elements(*dims) || !simplifier.fires())
    return std::nullopt;
  return simplifier.builder().literal(std::move(out), type.dims);
}

/// cast(literal) -> literal
std::optional<ValueId> cast_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::literal);
  if (!inner) {
    const std::optional<Literal> splat = simplifier.matcher().splat(node.operands[0]);
    const std::optional<Literal> folded = splat ? fold_cast(*splat, type.dtype) : std::nullopt;
    if (!folded || !simplifier.fires()) return std::nullopt;
    return simplifier.filled(*folded, type.dims);
  }
  std::vector<Literal> elements;
  for (const Literal& one : inner->elements) {
    const std::optional<Literal> folded = fold_cast(one, type.dtype);
    if (!folded) return std::nullopt;
    elements.push_back(*folded);
  }
  if (!simplifier.fires()) return std::nullopt;
  return simplifier.builder().literal(std::move(elements), type.dims);
}

/// view(splat) -> splat
std::optional<ValueId> view_of_splat(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const std::optional<Literal> splat = simplifier.matcher().splat(node.operands[0]);
  if (!splat || !simplifier.fires()) return std::nullopt;
  return simplifier.filled(*splat, type.dims);
}

/// Builds the literal whose element at `at` is x[source(at)].
std::optional<ValueId> rearranged(Simplifier& simplifier, const Known& x, const TensorType& type,
                                  const std::function<Position(const Position&)>& source) {
  const auto dims = short_dims(type.dims);
  if (!dims || num_elements(*dims) == 0 || !simplifier.fires()) return std::nullopt;
  std::vector<Literal> elements;
  for_each_position(*dims, [&](const Position& at) { elements.push_back(element(x, source(at))); });
  return simplifier.builder().literal(std::move(elements), type.dims);
}

std::optional<ValueId> reshape_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::literal);
  if (!inner || !are_constant(type.dims) || !simplifier.fires()) return std::nullopt;
  return simplifier.builder().literal(inner->elements, type.dims);
}

std::optional<ValueId> transpose_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const std::optional<Known> x = known(simplifier, node.operands[0]);
  if (!x) return std::nullopt;
  return rearranged(simplifier, *x, type, [&](const Position& at) {
    Position source(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) source[static_cast<std::size_t>(node.axes[i])] = at[i];
    return source;
  });
}

std::optional<ValueId> flip_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const std::optional<Known> x = known(simplifier, node.operands[0]);
  if (!x) return std::nullopt;
  return rearranged(simplifier, *x, type, [&](Position at) {
    for (int axis : node.axes) {
      int64_t& i = at[static_cast<std::size_t>(axis)];
      i = x->dims[static_cast<std::size_t>(axis)] - 1 - i;
    }
    return at;
  });
}

std::optional<ValueId> slice_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const std::optional<Known> x = known(simplifier, node.operands[0]);
  const bool fixed = std::ranges::all_of(
      node.index, [](const IndexItem& item) { return item.start.is_constant() && item.position.is_constant(); });
  if (!x || !fixed) return std::nullopt;
  return rearranged(simplifier, *x, type, [&](const Position& at) {
    Position source;
    std::size_t axis = 0;
    for (const IndexItem& item : node.index) {
      const bool keeps = item.kind == IndexItem::Kind::range;
      source.push_back(keeps ? item.start.constant() + item.step * at[axis] : item.position.constant());
      axis += keeps ? 1 : 0;
    }
    return source;
  });
}

/// concat(literals) -> literal
std::optional<ValueId> concat_of_literals(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const auto dims = short_dims(type.dims);
  std::vector<Known> parts;
  for (ValueId v : node.operands) {
    std::optional<Known> part = dims ? known(simplifier, v) : std::nullopt;
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  if (num_elements(*dims) == 0 || !simplifier.fires()) return std::nullopt;
  const auto axis = static_cast<std::size_t>(node.axes[0]);
  std::vector<Literal> elements;
  for_each_position(*dims, [&](Position at) {
    std::size_t part = 0;
    for (; at[axis] >= parts[part].dims[axis]; ++part) at[axis] -= parts[part].dims[axis];
    elements.push_back(element(parts[part], at));
  });
  return simplifier.builder().literal(std::move(elements), type.dims);
}

/// reduce(literal) -> literal, left to right from the value that changes nothing
std::optional<ValueId> reduce_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const std::optional<Known> x = known(simplifier, node.operands[0]);
  if (!x || x->elements.empty() || type.dtype == DType::opaque) return std::nullopt;
  const std::optional<Combine> combine = combines_elements(node);
  if (!combine) return std::nullopt;
  Known out{*short_dims(type.dims), {}};
  out.elements.assign(static_cast<std::size_t>(num_elements(out.dims)), identity_of(*combine, type.dtype));
  bool all_known = true;
  for_each_position(x->dims, [&](const Position& at) {
    int64_t index = 0;
    for (std::size_t axis = 0, kept = 0; axis < at.size(); ++axis) {
      if (std::ranges::find(node.axes, static_cast<int>(axis)) != node.axes.end()) continue;
      index = index * out.dims[kept++] + at[axis];
    }
    Literal& sum = out.elements[static_cast<std::size_t>(index)];
    const std::optional<Literal> next = fold_cast(element(*x, at), type.dtype);
    const Literal pair[] = {sum, next.value_or(sum)};
    const std::optional<Literal> both = next ? fold_scalar(combine_op(*combine), pair) : std::nullopt;
    all_known = all_known && both;
    sum = both.value_or(sum);
  });
  if (!all_known || !simplifier.fires()) return std::nullopt;
  return simplifier.builder().literal(std::move(out.elements), type.dims);
}

/// assert(x, true) -> x
std::optional<ValueId> assert_of_true(Simplifier& simplifier, const Node& node, const TensorType&) {
  const std::optional<Literal> condition = simplifier.matcher().splat(node.operands[1]);
  if (!condition || !is_number(*condition, 1) || !simplifier.fires()) return std::nullopt;
  return node.operands[0];
}

/// size(3) -> 3
std::optional<ValueId> size_of_constant(Simplifier& simplifier, const Node& node, const TensorType&) {
  if (!node.size.is_constant() || !simplifier.fires()) return std::nullopt;
  return simplifier.builder().literal(Literal::of_integer(DType::i64, node.size.constant()));
}

using enum Close;

// A splat is one literal, broadcast to any shape; a literal has up to 16 elements.
constexpr NodeRule kRules[] = {
    // name                   from                    to         how close  op
    {"fold", "op(splats)", "splat", rounding, Op::scalar, fold},
    {"fold-elements", "op(literals)", "literal", rounding, Op::scalar, fold_elements},
    {"cast-of-literal", "cast(literal)", "literal", bitwise, Op::cast, cast_of_literal},
    {"reshape-of-literal", "reshape(literal)", "literal", bitwise, Op::reshape, reshape_of_literal},
    {"reshape-of-splat", "reshape(splat)", "splat", bitwise, Op::reshape, view_of_splat},
    {"transpose-of-splat", "transpose(splat)", "splat", bitwise, Op::transpose, view_of_splat},
    {"transpose-of-literal", "transpose(literal)", "literal", bitwise, Op::transpose, transpose_of_literal},
    {"flip-of-splat", "flip(splat)", "splat", bitwise, Op::flip, view_of_splat},
    {"flip-of-literal", "flip(literal)", "literal", bitwise, Op::flip, flip_of_literal},
    {"slice-of-splat", "slice(splat)", "splat", bitwise, Op::slice, view_of_splat},
    {"slice-of-literal", "slice(literal)", "literal", bitwise, Op::slice, slice_of_literal},
    {"concat-of-literals", "concat(literals)", "literal", bitwise, Op::concat, concat_of_literals},
    {"reduce-of-literal", "reduce(literal)", "literal", rounding, Op::reduce, reduce_of_literal},
    {"assert-of-true", "assert(x, true)", "x", bitwise, Op::assert_, assert_of_true},
    {"size-of-constant", "size(3)", "3", bitwise, Op::size, size_of_constant},
};
// clang-format on

}  // namespace

std::span<const NodeRule> literal_rules() { return kRules; }

}  // namespace inlay::rewrite
