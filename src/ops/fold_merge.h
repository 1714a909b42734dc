#pragma once
// The expressions of folds.def over values of any kind: elements, registers of machine code, texts of C.
#include <limits>
#include <optional>
#include <vector>

#include "ops/fold.h"
#include "ops/literal.h"
#include "support/error.h"

namespace inlay {

/// Emit has:
///   Value number(const Literal&)
///   Value op(ScalarOp, DType of the operands, std::span<const Value>)
///   Value cast(const Value&, DType from, DType to)
template <class Value, class Emit>
class FoldMerge {
 public:
  /// `dtypes`: of all states.
  FoldMerge(Fold fold, std::vector<DType> dtypes, Emit& emit)
      : states_(facts(fold).states), dtypes_(std::move(dtypes)), emit_(emit) {}

  std::vector<Value> nothing() {
    std::vector<Value> out;
    for (std::size_t k = 0; k < states_.size(); ++k) {
      out.push_back(emit_.number(identity_of(states_[k].combine, dtypes_[k])));
    }
    return out;
  }

  /// Of one point: x is what each stored state folds, of its dtype.
  std::vector<Value> lifted(std::span<const Value> x) {
    std::vector<Value> out;
    for (std::size_t k = 0; k < states_.size(); ++k) {
      x_ = {x[states_[k].is_stored ? k : 0], dtypes_[states_[k].is_stored ? k : 0]};
      out.push_back(as(dtypes_[k], evaluate(states_[k].lift)));
    }
    return out;
  }

  /// Of the points of both.
  std::vector<Value> merged(std::span<const Value> a, std::span<const Value> b) {
    a_ = a, b_ = b;
    merged_.assign(states_.size(), Value{});
    for (std::size_t k = states_.size(); k-- > 0;) merged_[k] = as(dtypes_[k], evaluate(states_[k].merge));
    return merged_;
  }

 private:
  /// `truth`: if that is known, and there is no Value. A number has no dtype of its own.
  struct Typed {
    Value value{};
    DType dtype = DType::f64;
    std::optional<bool> truth;
    const Expression* number = nullptr;
  };

  Value as(DType dtype, const Typed& x) {
    if (x.number) return emit_.number(literal(*x.number, dtype));
    return x.dtype == dtype ? x.value : emit_.cast(x.value, x.dtype, dtype);
  }

  static Literal literal(const Expression& number, DType dtype) {
    if (number.kind == Expression::Kind::number) return Literal::of(dtype, number.number);
    if (!is_float(dtype)) return identity_of(Combine::max, dtype);
    const double lowest =
        dtype == DType::f32 ? std::numeric_limits<float>::lowest() : std::numeric_limits<double>::lowest();
    return Literal::of_float(dtype, lowest);
  }

  Typed evaluate(const Expression& e) {
    if (e.kind == Expression::Kind::number || e.word == "lowest") return {.number = &e};
    if (e.kind == Expression::Kind::word) return word(e.word);
    std::vector<Typed> operands;
    for (const Expression& operand : e.operands) operands.push_back(evaluate(operand));
    return op(e.op, operands);
  }

  Typed word(std::string_view word) {
    if (word == "x") return x_;
    const bool of_a = word.starts_with("a."), of_b = word.starts_with("b.");
    const std::string_view name = of_a || of_b ? word.substr(2) : word;
    for (std::size_t k = 0; k < states_.size(); ++k) {
      if (states_[k].name == name) return {of_a ? a_[k] : of_b ? b_[k] : merged_[k], dtypes_[k]};
    }
    INLAY_CHECK(false, "no state is named ", word);
    return {};
  }

  Typed op(ScalarOp op, std::span<const Typed> x) {
    if (op == ScalarOp::isnan_ && !is_float(x[0].dtype)) return {.dtype = DType::boolean, .truth = false};
    if (op == ScalarOp::not_ && x[0].truth) return {.dtype = DType::boolean, .truth = !*x[0].truth};
    if (op == ScalarOp::or_ || op == ScalarOp::and_) {
      const bool decides = op == ScalarOp::or_;
      for (const bool first : {true, false}) {
        const Typed &known = first ? x[0] : x[1], &other = first ? x[1] : x[0];
        if (known.truth) return *known.truth == decides ? known : other;
      }
    }
    INLAY_CHECK(op != ScalarOp::select_ || !x[0].truth, "a choice that is known");
    const std::size_t first = op == ScalarOp::select_ ? 1 : 0;
    std::optional<DType> widest;
    for (const Typed& each : x.subspan(first)) {
      if (!each.number && (!widest || size_bytes(each.dtype) > size_bytes(*widest))) widest = each.dtype;
    }
    INLAY_CHECK(widest, "an expression of numbers alone");
    std::vector<Value> operands;
    if (first == 1) operands.push_back(x[0].value);
    for (const Typed& each : x.subspan(first)) operands.push_back(as(*widest, each));
    return {emit_.op(op, *widest, operands), result_dtype(op, *widest)};
  }

  const std::vector<FoldState>& states_;
  std::vector<DType> dtypes_;
  Emit& emit_;
  Typed x_;
  std::span<const Value> a_, b_;
  std::vector<Value> merged_;
};

}  // namespace inlay
