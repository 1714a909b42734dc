#include "reference/elementwise.h"

#include "ops/scalar_value.h"

namespace inlay::reference {
namespace {

template <OperandClass operands, class T>
constexpr bool takes() {
  constexpr bool is_bool = std::is_same_v<T, bool>;
  switch (operands) {
    case OperandClass::Numeric: return !is_bool;
    case OperandClass::Floating: return std::is_floating_point_v<T>;
    case OperandClass::Ordered: return true;
    case OperandClass::Integer: return std::is_integral_v<T> && !is_bool;
    case OperandClass::Logical: return std::is_integral_v<T>;
    case OperandClass::Any: return true;
  }
  return false;
}

/// `row(a, b, c)` at each element; operands that the op does not have are read as its last one, and not looked at.
template <OperandClass operand_class, ResultRule rule, bool is_select, class Row>
Tensor each(std::span<const Tensor> operands, Row row) {
  const Tensor& last = operands.back();
  Tensor out = Tensor::zeros(rule == ResultRule::Bool ? DType::boolean : last.dtype, last.dims);
  visit_arithmetic(last.dtype, [&](auto zero) {
    using T = decltype(zero);
    using First = std::conditional_t<is_select, bool, T>;
    using Result = std::conditional_t<rule == ResultRule::Bool, bool, T>;
    if constexpr (takes<operand_class, T>()) {
      const Tensor& a = operands[0];
      const Tensor& b = operands.size() > 1 ? operands[1] : last;
      const Tensor& c = operands.size() > 2 ? operands[2] : last;
      for (int64_t i = 0; i < out.num_elements(); ++i) {
        out.set<Result>(i, static_cast<Result>(row(a.get<First>(i), b.get<T>(i), c.get<T>(i))));
      }
    } else {
      throw Error(ErrorCode::wrong_dtype, {}, str("the op does not take ", dtype_name(last.dtype)));
    }
  });
  return out;
}

}  // namespace

Tensor apply_scalar(ScalarOp op, std::span<const Tensor> operands) {
  switch (op) {
#define SCALAR_OP(name, arity, operand_class, result, cost, reference)                                              \
  case ScalarOp::name##_:                                                                                           \
    return each < OperandClass::operand_class, ResultRule::result,                                                  \
           ScalarOp::name##_ == ScalarOp::select_ > (operands, []([[maybe_unused]] auto a, [[maybe_unused]] auto b, \
                                                                  [[maybe_unused]] auto c) {                        \
                                  using T [[maybe_unused]] = decltype(c);                                           \
                                  return reference;                                                                 \
                                });
#include "ops/scalar_ops.def"
#undef SCALAR_OP
  }
  INLAY_CHECK(false, "no such scalar op");
  return {};
}

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype == dtype) return x;
  Tensor out = Tensor::zeros(dtype, x.dims);
  visit_arithmetic(x.dtype, [&](auto from) {
    visit_arithmetic(dtype, [&](auto to) {
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        const auto element = x.get<decltype(from)>(i);
        if (element != element && is_integer(dtype)) {
          throw Error(ErrorCode::nan_to_integer, {}, str("cast: NaN to ", dtype_name(dtype)));
        }
        out.set(i, scalar_cast<decltype(to)>(element));
      }
    });
  });
  return out;
}

void combine_element(Combine combine, Tensor& into, int64_t to, const Tensor& value, int64_t from) {
  if (combine == Combine::set) {
    std::memcpy(into.element(to), value.element(from), static_cast<std::size_t>(size_bytes(into.dtype)));
    return;
  }
  visit_arithmetic(into.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T a = into.get<T>(to), b = value.get<T>(from);
    const auto combined = [&]() -> T {
      switch (combine) {
        case Combine::add: return wrap_add(a, b);
        case Combine::mul: return wrap_mul(a, b);
        case Combine::max: return scalar_max(a, b);
        case Combine::min: return scalar_min(a, b);
        case Combine::and_:
          if constexpr (std::is_integral_v<T>) return static_cast<T>(a & b);
          break;
        case Combine::or_:
          if constexpr (std::is_integral_v<T>) return static_cast<T>(a | b);
          break;
        case Combine::set: break;
      }
      throw Error(ErrorCode::wrong_dtype, {}, str(combine_name(combine), " does not take ", dtype_name(into.dtype)));
    };
    into.set<T>(to, combined());
  });
}

}  // namespace inlay::reference
