#include "rewrite/fold_literal.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "ops/scalar_value.h"

namespace inlay::rewrite {
namespace {

template <class T>
T element(const Literal& literal) {
  T value;
  literal.store(&value);
  return value;
}

/// Calls `row(a, b, c, d)`; missing operands repeat the last one, and are ignored.
template <OperandClass operand_class, ResultRule rule, bool is_select, class Row>
std::optional<Literal> apply(std::span<const Literal> operands, DType to, Row row) {
  const Literal& last = operands.back();
  return visit_element_type(last.dtype, [&](auto zero) -> std::optional<Literal> {
    using T = decltype(zero);
    using First = std::conditional_t<is_select, bool, T>;
    if constexpr (takes<T>(operand_class)) {
      const T b = element<T>(operands.size() > 1 ? operands[1] : last);
      const T c = element<T>(operands.size() > 2 ? operands[2] : last);
      const T d = element<T>(operands.size() > 3 ? operands[3] : last);
      const auto value = stored<ResultElement<rule, T>>(
          row(computed(element<First>(operands[0])), computed(b), computed(c), computed(d)));
      return Literal::load(to, &value);
    }
    return std::nullopt;
  });
}

bool is_negative_power(ScalarOp op, std::span<const Literal> operands) {
  return op == ScalarOp::pow_ && is_signed_integer(operands[1].dtype) && operands[1].i < 0;
}

}  // namespace

std::optional<Literal> fold_scalar(ScalarOp op, std::span<const Literal> operands) {
  if (is_negative_power(op, operands)) return std::nullopt;
  const DType to = result_dtype(op, operands.back().dtype);
  switch (op) {
#define SCALAR_OP(name, arity, operand_class, result, cost, reference)                                      \
  case ScalarOp::name##_:                                                                                   \
    return apply < OperandClass::operand_class, ResultRule::result,                                         \
           ScalarOp::name##_ == ScalarOp::select_ > (operands, to,                                          \
                                                     []([[maybe_unused]] auto a, [[maybe_unused]] auto b,   \
                                                        [[maybe_unused]] auto c, [[maybe_unused]] auto d) { \
                                                       using T [[maybe_unused]] = decltype(d);              \
                                                       return reference;                                    \
                                                     });
#include "ops/scalar_ops.def"
#undef SCALAR_OP
  }
  return std::nullopt;
}

std::optional<Literal> fold_cast(const Literal& literal, DType dtype) {
  return visit_element_type(dtype, [&](auto to) {
    using To = decltype(to);
    return visit_element_type(literal.dtype, [&](auto from) -> std::optional<Literal> {
      using From = Computed<decltype(from)>;
      const From value = computed(element<decltype(from)>(literal));
      if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool>) {
        if constexpr (std::is_floating_point_v<From>) {
          const double whole = std::trunc(static_cast<double>(value));
          const double minimum = static_cast<double>(std::numeric_limits<To>::min());
          const double limit = std::ldexp(1.0, std::numeric_limits<To>::digits);  // one more than the maximum
          if (!(whole >= minimum && whole < limit)) return std::nullopt;
        }
      }
      const To result = scalar_cast<To>(value);
      return Literal::load(dtype, &result);
    });
  });
}

bool holds_all_values(DType to, DType from) {
  if (to == from) return true;
  if (is_complex(to)) return holds_all_values(real_of(to), real_of(from));
  if (is_float(to)) {
    // How many bits an integer may have: the digits of the significand.
    const int digits = to == DType::f64 ? 53 : to == DType::f32 ? 24 : to == DType::f16 ? 11 : 8;
    if (from == DType::boolean) return true;
    if (is_integer(from)) return size_bytes(from) * 8 <= digits;
    return is_float(from) && size_bytes(from) < size_bytes(to);
  }
  if (!is_integer(to)) return false;
  if (from == DType::boolean) return true;
  if (is_unsigned_integer(from)) return size_bytes(from) < size_bytes(to);
  return is_signed_integer(from) && is_signed_integer(to) && size_bytes(from) < size_bytes(to);
}

}  // namespace inlay::rewrite
