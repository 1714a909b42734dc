#include "fuse/affine_index.h"

#include <algorithm>
#include <cstdlib>

#include "kernel/dim_proof.h"

namespace inlay::fuse {

using kernel::AxisTerm;
using kernel::Subscript;

namespace {

using Map = std::optional<Subscript>;  // axes: those of the value

constexpr int kDeepest = 12;                                                  // of sums within sums
constexpr int64_t kLargestFactor = 1 << 20, kLargestStep = int64_t{1} << 31;  // so that no product overflows

/// `map` with term k about axis axes[k]; an axis below 0 has one place only.
Subscript renumbered(const Subscript& map, std::span<const int> axes) {
  Subscript out{map.base, {}, {}};
  for (const AxisTerm& term : map.axes) {
    if (const int axis = axes[static_cast<std::size_t>(term.axis)]; axis >= 0)
      out = plus(out, {0, {{axis, 1}}, {}}, term.step);
  }
  return out;
}

class AffineReader {
 public:
  explicit AffineReader(const Graph& graph) : graph_(graph) {}

  Map map(ValueId v) {
    const Node* node = graph_.node_of(v);
    if (!node || graph_.type(v).dtype != DType::i64 || depth_ == kDeepest) return std::nullopt;
    ++depth_;
    Map found = of_node(*node, v);
    --depth_;
    return found;
  }

 private:
  const std::vector<Dim>& dims(ValueId v) const { return graph_.type(v).dims; }

  Map of_node(const Node& node, ValueId v) {
    switch (node.op) {
      case Op::iota: return Subscript{0, {{0, 1}}, {}};
      case Op::size: return Subscript{node.size, {}, {}};
      case Op::literal:
        if (node.elements.size() != 1) return std::nullopt;
        return Subscript{node.elements[0].i, {}, {}};
      case Op::scalar: return of_arithmetic(node, v);
      case Op::broadcast: return of_operand(node.operands[0], v);
      case Op::reshape: return of_reshape(node.operands[0], v);
      case Op::transpose: {
        const Map x = map(node.operands[0]);
        std::vector<int> place(node.axes.size());
        for (std::size_t i = 0; i < node.axes.size(); ++i)
          place[static_cast<std::size_t>(node.axes[i])] = static_cast<int>(i);
        return x ? Map(renumbered(*x, place)) : std::nullopt;
      }
      default: return std::nullopt;
    }
  }

  Map of_arithmetic(const Node& node, ValueId v) {
    if (node.operands.size() != 2) return std::nullopt;
    const Map a = of_operand(node.operands[0], v), b = of_operand(node.operands[1], v);
    if (!a || !b) return std::nullopt;
    if (node.scalar == ScalarOp::add_) return bounded(plus(*a, *b, 1));
    if (node.scalar == ScalarOp::sub_) return bounded(plus(*a, *b, -1));
    if (node.scalar != ScalarOp::mul_) return std::nullopt;
    if (is_factor(*a)) return bounded(plus({}, *b, a->base));
    return is_factor(*b) ? bounded(plus({}, *a, b->base)) : std::nullopt;
  }

  static bool is_factor(const Subscript& map) {
    if (!map.is_constant()) return false;
    if (!map.base.is_constant()) return kernel::is_zero_or_one(map.base);
    return std::abs(map.base.constant()) <= kLargestFactor;
  }
  static Map bounded(Subscript map) {
    const auto fits = [](int64_t number) { return std::abs(number) <= kLargestStep; };
    const auto is_bounded = [&](const AxisTerm& axis) {
      return fits(axis.step.constant_part()) && std::ranges::all_of(axis.step.terms(), fits, &Dim::Term::coefficient);
    };
    return std::ranges::all_of(map.axes, is_bounded) ? Map(std::move(map)) : std::nullopt;
  }

  /// What broadcasts to v, by the axes of v.
  Map of_operand(ValueId x, ValueId v) {
    const Map found = map(x);
    if (!found) return std::nullopt;
    const int shift = graph_.type(v).rank() - graph_.type(x).rank();
    std::vector<int> place;
    for (int i = 0; i < graph_.type(x).rank(); ++i)
      place.push_back(dims(x)[static_cast<std::size_t>(i)].is(1) ? -1 : i + shift);
    return renumbered(*found, place);
  }

  /// Where only axes of one place come or go.
  Map of_reshape(ValueId x, ValueId v) {
    std::vector<int> place;
    std::size_t next = 0;
    const auto skip_ones = [&] {
      while (next < dims(v).size() && dims(v)[next].is(1)) ++next;
    };
    for (const Dim& dim : dims(x)) {
      if (dim.is(1)) {
        place.push_back(-1);
        continue;
      }
      skip_ones();
      if (next == dims(v).size() || dims(v)[next] != dim) return std::nullopt;
      place.push_back(static_cast<int>(next++));
    }
    skip_ones();
    const Map found = next == dims(v).size() ? map(x) : std::nullopt;
    return found ? Map(renumbered(*found, place)) : std::nullopt;
  }

  const Graph& graph_;
  int depth_ = 0;
};

}  // namespace

Map affine_index(const Graph& graph, ValueId array, const Dim& extent) {
  try {
    Map found = AffineReader(graph).map(array);
    if (!found || kernel::within_dim(*found, graph.type(array).dims, extent) != Answer::yes) return std::nullopt;
    return found;
  } catch (const Error&) {  // a size beyond 64 bits: what cannot be proved is checked
    return std::nullopt;
  }
}

Map at_point(const Subscript& map, const kernel::AccessMap& at) {
  Subscript out{map.base, {}, {}};
  for (const AxisTerm& term : map.axes) {
    const Subscript& place = at.subscripts[static_cast<std::size_t>(term.axis)];
    if (place.index) return std::nullopt;
    out = plus(out, place, term.step);
  }
  return out;
}

}  // namespace inlay::fuse
