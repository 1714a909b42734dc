#include "oracle/reference/elementwise.h"

#include "ops/scalar_value.h"

namespace inlay::reference {
namespace {

/// `row(a, b, c, d)` at each element; operands that the op does not have are read as its last one, and not looked at.
template <OperandClass operand_class, ResultRule rule, bool is_select, class Row>
Tensor each(std::span<const Tensor> operands, DType result_dtype, Row row) {
  const Tensor& last = operands.back();
  return visit_element_type(last.dtype, [&](auto zero) -> Tensor {
    using T = decltype(zero);
    using First = std::conditional_t<is_select, bool, T>;
    if constexpr (takes<T>(operand_class)) {
      using Result = ResultElement<rule, T>;
      const Tensor& a = operands[0];
      const Tensor& b = operands.size() > 1 ? operands[1] : last;
      const Tensor& c = operands.size() > 2 ? operands[2] : last;
      const Tensor& d = operands.size() > 3 ? operands[3] : last;
      Tensor out = Tensor::zeros(result_dtype, last.dims);
      for (int64_t i = 0; i < out.num_elements(); ++i) {
        out.set<Result>(i, stored<Result>(row(computed(a.get<First>(i)), computed(b.get<T>(i)), computed(c.get<T>(i)),
                                              computed(d.get<T>(i)))));
      }
      return out;
    } else {
      throw Error(ErrorCode::wrong_dtype, {}, str("the op does not take ", dtype_name(last.dtype)));
    }
  });
}

}  // namespace

Tensor apply_scalar(ScalarOp op, std::span<const Tensor> operands) {
  const DType to = result_dtype(op, operands.back().dtype);
  switch (op) {
#define SCALAR_OP(name, arity, operand_class, result, cost, reference)                                      \
  case ScalarOp::name##_:                                                                                   \
    return each < OperandClass::operand_class, ResultRule::result,                                          \
           ScalarOp::name##_ == ScalarOp::select_ > (operands, to,                                          \
                                                     []([[maybe_unused]] auto a, [[maybe_unused]] auto b,   \
                                                        [[maybe_unused]] auto c, [[maybe_unused]] auto d) { \
                                                       using T [[maybe_unused]] = decltype(d);              \
                                                       return reference;                                    \
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
  visit_element_type(x.dtype, [&](auto from) {
    visit_element_type(dtype, [&](auto to) {
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        const auto element = computed(x.get<decltype(from)>(i));
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
  visit_element_type(into.dtype, [&](auto zero) {
    using Element = decltype(zero);
    using T = Computed<Element>;
    const T a = computed(into.get<Element>(to)), b = computed(value.get<Element>(from));
    const auto combined = [&]() -> T {
      if (combine == Combine::add) return wrap_add(a, b);
      if (combine == Combine::mul) return wrap_mul(a, b);
      if constexpr (!kIsComplex<T>) {
        if (combine == Combine::max) return scalar_max(a, b);
        if (combine == Combine::min) return scalar_min(a, b);
      }
      if constexpr (std::is_integral_v<T>) {
        if (combine == Combine::and_) return static_cast<T>(a & b);
        if (combine == Combine::or_) return static_cast<T>(a | b);
        if (combine == Combine::xor_) return static_cast<T>(a ^ b);
      }
      throw Error(ErrorCode::wrong_dtype, {}, str(combine_name(combine), " does not take ", dtype_name(into.dtype)));
    };
    into.set(to, stored<Element>(combined()));
  });
}

}  // namespace inlay::reference
