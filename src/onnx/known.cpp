#include "onnx/known.h"

#include <algorithm>

#include "ir/positions.h"
#include "onnx/long_size.h"
#include "rewrite/fold_literal.h"
#include "support/overloaded.h"

namespace inlay::onnx {
namespace {

using Dims = Position;
using MaybeNumber = std::optional<Number>;
using Shared = std::shared_ptr<const Elements>;

constexpr int64_t kMostElements = 4096;  // of a value that is looked at: shapes and tables, not data

Number number_of(const Literal& literal) {
  if (is_integer(literal.dtype)) return Dim(literal.i);
  return literal;
}

MaybeNumber number_of(bool value) { return Literal::of_integer(DType::boolean, value ? 1 : 0); }

std::optional<bool> truth(const MaybeNumber& number) {
  if (!number || !std::holds_alternative<Literal>(*number)) return {};
  return std::get<Literal>(*number).i != 0;
}

/// The element at a position that is aligned at the last axis and may have more axes; an axis of 1 stretches.
const MaybeNumber& stretched(const Elements& x, const Dims& at) { return x.numbers[broadcast_index(x.dims, at)]; }

/// A scalar op of numbers some of which may be sizes, or not known.
class ScalarOfNumbers {
 public:
  ScalarOfNumbers(ScalarOp op, DType dtype) : op_(op), dtype_(dtype) {}

  /// `dtype` is that of the operands (of `select`: of the branches).
  MaybeNumber of(const std::vector<MaybeNumber>& operands) const {
    if (op_ == ScalarOp::select_) {
      const std::optional<bool> condition = truth(operands[0]);
      return condition ? operands[*condition ? 1 : 2] : MaybeNumber();
    }
    if (const MaybeNumber folded = of_literals(operands)) return folded;
    if (dtype_ == DType::boolean) return of_truths(operands);
    if (!is_integer(dtype_)) return {};
    for (const MaybeNumber& operand : operands) {
      if (!operand) return {};
    }
    if (operands.size() == 1) return of_size(std::get<Dim>(*operands[0]));
    if (operands.size() == 2) return if_short(of_sizes(std::get<Dim>(*operands[0]), std::get<Dim>(*operands[1])));
    return {};
  }

 private:
  MaybeNumber of_literals(const std::vector<MaybeNumber>& operands) const {
    std::vector<Literal> literals;
    for (const MaybeNumber& operand : operands) {
      const std::optional<Literal> literal = as_literal(operand, dtype_);
      if (!literal) return {};
      literals.push_back(*literal);
    }
    const std::optional<Literal> folded = rewrite::fold_scalar(op_, literals);
    return folded ? MaybeNumber(number_of(*folded)) : MaybeNumber();
  }

  /// One operand may say all: false and anything, true or anything.
  MaybeNumber of_truths(const std::vector<MaybeNumber>& operands) const {
    if (op_ != ScalarOp::and_ && op_ != ScalarOp::or_) return {};
    const bool decides = op_ == ScalarOp::or_;
    for (const MaybeNumber& operand : operands) {
      if (truth(operand) == decides) return number_of(decides);
    }
    return {};
  }

  static int64_t minimum(const Dim& x) { return x.lower_bound({}); }

  /// Is it a number that may be none of an i64 any more once a size is added to it, or a factor? The run, where
  /// integers wrap around, computes what is left of it.
  static bool is_far(const Dim& x) {
    constexpr int64_t kFar = int64_t{1} << 62;
    return x.constant_part() >= kFar || x.constant_part() <= -kFar;
  }

  /// A size that is multiplied by itself, again and again, is found when the network runs.
  static MaybeNumber if_short(MaybeNumber number) {
    const Dim* size = number ? std::get_if<Dim>(&*number) : nullptr;
    return size && is_long(*size) ? MaybeNumber() : std::move(number);
  }

  MaybeNumber of_size(const Dim& x) const {
    if (op_ == ScalarOp::neg_) return 0 - x;
    if (op_ == ScalarOp::abs_ && minimum(x) >= 0) return x;
    if (op_ == ScalarOp::sign_ && minimum(x) >= 1) return Dim(1);
    return {};
  }

  MaybeNumber of_sizes(const Dim& x, const Dim& y) const {
    const bool divides = minimum(y) >= 1;
    switch (op_) {
      case ScalarOp::add_: return is_far(x) || is_far(y) ? MaybeNumber() : x + y;
      case ScalarOp::sub_: return is_far(x) || is_far(y) ? MaybeNumber() : x - y;
      case ScalarOp::mul_: return is_far(x) || is_far(y) ? MaybeNumber() : x * y;
      case ScalarOp::pow_: return power(x, y);
      case ScalarOp::max_: return max(x, y);
      case ScalarOp::min_: return min(x, y);
      case ScalarOp::floor_div_: return divides ? MaybeNumber(floor_div(x, y)) : MaybeNumber();
      case ScalarOp::mod_: return divides ? MaybeNumber(x - y * floor_div(x, y)) : MaybeNumber();
      case ScalarOp::lt_: return is_less(x, y);
      case ScalarOp::gt_: return is_less(y, x);
      case ScalarOp::ge_: return negated(is_less(x, y));
      case ScalarOp::le_: return negated(is_less(y, x));
      case ScalarOp::eq_: return are_equal(x, y);
      case ScalarOp::ne_: return negated(are_equal(x, y));
      default: return {};
    }
  }

  /// As in height ** 2 of the patches of an image. A sum to a high power has many terms.
  static MaybeNumber power(const Dim& x, const Dim& y) {
    if (!y.is_constant() || minimum(y) < 0 || minimum(y) > 3) return {};
    Dim result = 1;
    for (int64_t i = 0; i < minimum(y); ++i) result = result * x;
    return result;
  }

  MaybeNumber is_less(const Dim& x, const Dim& y) const {
    if (minimum(y - x) >= 1) return number_of(true);
    if (minimum(x - y) >= 0) return number_of(false);
    return {};
  }
  MaybeNumber are_equal(const Dim& x, const Dim& y) const {
    if (x == y) return number_of(true);
    if (minimum(y - x) >= 1 || minimum(x - y) >= 1) return number_of(false);
    return {};
  }
  static MaybeNumber negated(const MaybeNumber& x) {
    const std::optional<bool> is = truth(x);
    return is ? number_of(!*is) : MaybeNumber();
  }

  ScalarOp op_;
  DType dtype_;
};

/// The elements of a node's first result, by those of its operands.
class OfNode {
 public:
  OfNode(const Graph& graph, const Node& node, std::vector<Shared> operands, Dims dims)
      : graph_(graph), node_(node), operands_(std::move(operands)), dims_(std::move(dims)) {}

  Shared run() {
    switch (node_.op) {
      case Op::literal:
        for (const Literal& literal : node_.elements) numbers_.emplace_back(number_of(literal));
        break;
      case Op::size: numbers_.emplace_back(node_.size); break;
      case Op::as_size: numbers_.emplace_back(node_.size); break;
      case Op::compress: numbers_.emplace_back(node_.size); break;
      case Op::iota: iota(); break;
      case Op::scalar: scalar(); break;
      default:
        if (!std::ranges::all_of(operands_, [](const Shared& s) { return s != nullptr; })) return nullptr;
        if (!of_known()) return nullptr;
    }
    if (static_cast<int64_t>(numbers_.size()) != num_elements(dims_)) return nullptr;
    if (std::ranges::none_of(numbers_, [](const MaybeNumber& n) { return n.has_value(); }) && !numbers_.empty()) {
      return nullptr;
    }
    return std::make_shared<const Elements>(std::move(dims_), std::move(numbers_));
  }

 private:
  DType dtype_of(std::size_t operand) const { return graph_.type(node_.operands[operand]).dtype; }

  void iota() {
    const DType dtype = graph_.type(node_.results[0]).dtype;
    for (int64_t i = 0; i < num_elements(dims_); ++i) {
      numbers_.emplace_back(number_of(Literal::of(dtype, static_cast<double>(i))));
    }
  }

  void scalar() {
    const bool selects = node_.scalar == ScalarOp::select_;
    const ScalarOfNumbers op(node_.scalar, dtype_of(selects ? 1 : 0));
    for_each_position(dims_, [&](const Dims& at) {
      std::vector<MaybeNumber> operands;
      for (const Shared& operand : operands_) operands.push_back(operand ? stretched(*operand, at) : MaybeNumber());
      numbers_.push_back(op.of(operands));
    });
  }

  /// Of operands all of which are known in part. False: this op is not looked into.
  bool of_known() {
    switch (node_.op) {
      case Op::cast: cast(); return true;
      case Op::broadcast: take([&](const Dims& at) { return stretched(*operands_[0], at); }); return true;
      case Op::reshape:
      case Op::assert_: numbers_ = operands_[0]->numbers; return true;
      case Op::transpose: transpose(); return true;
      case Op::flip: flip(); return true;
      case Op::slice:
      case Op::gather: return index();
      case Op::update:
      case Op::scatter: return write();
      case Op::concat: concat(); return true;
      case Op::reduce: return reduce();
      default: return false;
    }
  }

  template <class Element>
  void take(const Element& element_at) {
    for_each_position(dims_, [&](const Dims& at) { numbers_.push_back(element_at(at)); });
  }

  void cast() {
    const DType from = dtype_of(0), to = graph_.type(node_.results[0]).dtype;
    for (const MaybeNumber& number : operands_[0]->numbers) {
      if (const std::optional<Literal> literal = as_literal(number, from)) {
        const std::optional<Literal> folded = rewrite::fold_cast(*literal, to);
        numbers_.push_back(folded ? MaybeNumber(number_of(*folded)) : MaybeNumber());
      } else {
        // A size is taken to fit 32 bits, as exporters do; 8 or 16 bits may cut it.
        const bool stays = is_integer(from) && is_integer(to) && size_bytes(to) >= 4;
        numbers_.push_back(stays ? number : MaybeNumber());
      }
    }
  }

  void transpose() {
    take([&](const Dims& at) {
      Dims from(at.size());
      for (std::size_t axis = 0; axis < at.size(); ++axis) from[static_cast<std::size_t>(node_.axes[axis])] = at[axis];
      return stretched(*operands_[0], from);
    });
  }

  void flip() {
    take([&](Dims at) {
      for (int axis : node_.axes) {
        auto& place = at[static_cast<std::size_t>(axis)];
        place = dims_[static_cast<std::size_t>(axis)] - 1 - place;
      }
      return stretched(*operands_[0], at);
    });
  }

  /// Is it of ranges and positions that are known, and at most one index array, whose axes stand in its place?
  bool has_known_index() const {
    int arrays = 0;
    for (const IndexItem& item : node_.index) {
      arrays += item.kind == IndexItem::Kind::array;
      if (item.kind == IndexItem::Kind::range && !item.start.is_constant()) return false;
      if (item.kind == IndexItem::Kind::position && !item.position.is_constant()) return false;
    }
    return arrays == 0 || (arrays == 1 && !arrays_apart(node_.index));
  }

  /// The coordinates in operand 0 of a point of the region; `array`: the operand that is the index array. None: they
  /// are not known, or out of bounds.
  std::optional<Dims> place_in_base(const Dims& at, std::size_t array) const {
    const Elements& x = *operands_[0];
    Dims from;
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < node_.index.size(); ++axis) {
      const IndexItem& item = node_.index[axis];
      if (item.kind == IndexItem::Kind::position) {
        from.push_back(item.position.constant());
      } else if (item.kind == IndexItem::Kind::range) {
        from.push_back(item.start.constant() + item.step * at[next++]);
      } else {
        const std::size_t rank = operands_[array]->dims.size();
        const Dims place(at.begin() + static_cast<std::ptrdiff_t>(next),
                         at.begin() + static_cast<std::ptrdiff_t>(next + rank));
        next += rank;
        const std::optional<Literal> number = as_literal(stretched(*operands_[array], place), DType::i64);
        if (!number) return {};
        from.push_back(number->i < 0 ? number->i + x.dims[axis] : number->i);
      }
      if (from.back() < 0 || from.back() >= x.dims[axis]) return {};
    }
    return from;
  }

  bool index() {
    if (!has_known_index()) return false;
    take([&](const Dims& at) {
      const std::optional<Dims> from = place_in_base(at, 1);
      return from ? stretched(*operands_[0], *from) : MaybeNumber();
    });
    return true;
  }

  /// What is written to a region, in order; of a place that is not known, nothing is known.
  bool write() {
    if (!has_known_index() || node_.combine != Combine::set) return false;
    Dims region;
    for (const Dim& dim : region_dims(graph_, node_.index)) {
      if (!dim.is_constant()) return false;
      region.push_back(dim.constant());
    }
    numbers_ = operands_[0]->numbers;
    bool is_known = true;
    for_each_position(region, [&](const Dims& at) {
      const std::optional<Dims> to = place_in_base(at, 2);
      is_known = is_known && to;
      if (!is_known) return;
      numbers_[broadcast_index(dims_, *to)] = stretched(*operands_[1], at);
    });
    return is_known;
  }

  void concat() {
    const auto axis = static_cast<std::size_t>(node_.axes[0]);
    take([&](Dims at) {
      std::size_t part = 0;
      while (at[axis] >= operands_[part]->dims[axis]) at[axis] -= operands_[part++]->dims[axis];
      return stretched(*operands_[part], at);
    });
  }

  /// Folds of one operand that are a scalar op between two.
  bool reduce() {
    constexpr std::pair<Fold, ScalarOp> kOps[] = {{Fold::add, ScalarOp::add_},  {Fold::mul, ScalarOp::mul_},
                                                  {Fold::max, ScalarOp::max_},  {Fold::min, ScalarOp::min_},
                                                  {Fold::and_, ScalarOp::and_}, {Fold::or_, ScalarOp::or_}};
    const auto* const found = std::ranges::find(kOps, node_.fold, &std::pair<Fold, ScalarOp>::first);
    if (found == std::end(kOps) || node_.results.size() != 1) return false;
    const Elements& x = *operands_[0];
    const DType dtype = graph_.type(node_.results[0]).dtype;
    if (dtype_of(0) != dtype) return false;
    const ScalarOfNumbers op(found->second, dtype);
    std::vector<std::optional<MaybeNumber>> folded(static_cast<std::size_t>(num_elements(dims_)));
    for_each_position(x.dims, [&](const Dims& at) {
      std::size_t place = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis) {
        if (std::ranges::find(node_.axes, static_cast<int>(axis)) == node_.axes.end()) {
          place = place * static_cast<std::size_t>(x.dims[axis]) + static_cast<std::size_t>(at[axis]);
        }
      }
      const MaybeNumber& next = stretched(x, at);
      folded[place] = folded[place] ? op.of({*folded[place], next}) : next;
    });
    for (const auto& number : folded) {
      if (!number) return false;  // of no elements
      numbers_.push_back(*number);
    }
    return true;
  }

  const Graph& graph_;
  const Node& node_;
  std::vector<Shared> operands_;
  Dims dims_;
  std::vector<MaybeNumber> numbers_;
};

}  // namespace

std::optional<Literal> as_literal(const std::optional<Number>& number, DType dtype) {
  if (!number) return {};
  return std::visit(Overloaded{[&](const Dim& size) -> std::optional<Literal> {
                                 if (!size.is_constant()) return {};
                                 return Literal::of_integer(dtype, size.constant());
                               },
                               [](const Literal& literal) -> std::optional<Literal> { return literal; }},
                    *number);
}

Shared Known::of(ValueId v) {
  catch_up();
  const auto found = known_.find(v);
  return found == known_.end() ? nullptr : found->second;
}

/// In program order, so that a long chain is no deep recursion.
void Known::catch_up() {
  const Graph& graph = builder_.graph();
  for (; next_node_ < graph.nodes.size(); ++next_node_) {
    const Node& node = graph.nodes[NodeId(next_node_)];
    if (node.results.empty()) continue;
    std::optional<Dims> dims = constant_dims(graph.type(node.results[0]).dims, kMostElements);
    if (!dims) continue;
    std::vector<Shared> operands;
    for (ValueId operand : node.operands) {
      const auto found = known_.find(operand);
      operands.push_back(found == known_.end() ? nullptr : found->second);
    }
    if (Shared elements = OfNode(graph, node, std::move(operands), std::move(*dims)).run()) {
      known_[node.results[0]] = std::move(elements);
    }
  }
}

}  // namespace inlay::onnx
