// Ops that compute each element by itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "onnx/ops.h"
#include "onnx/reduce.h"
#include "rewrite/fold_literal.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

template <ScalarOp op>
void scalar(Call& c) {
  c.out(c.scalar(op, c.inputs()));
}

/// Any number of operands, from left to right.
template <ScalarOp op>
ValueId all_together(Call& c) {
  std::vector<ValueId> all = c.inputs();
  if (all.empty()) throw c.error(ErrorCode::wrong_arity, "it has no inputs");
  ValueId result = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) result = c.scalar(op, {result, all[i]});
  return result;
}
template <ScalarOp op>
void variadic(Call& c) {
  c.out(all_together<op>(c));
}

void mean(Call& c) { c.out(c.with(Op::div_, all_together<Op::add_>(c), static_cast<double>(c.node.inputs.size()))); }

/// Integers: towards zero.
void divide(Call& c) {
  const ValueId x = c.in(0), y = c.in(1);
  c.out(is_integer(c.dtype(0)) ? integer_quotient(c, x, y) : c.scalar(Op::div_, {x, y}));
}

/// The sign of the divisor, or with `fmod` that of the dividend.
void modulo(Call& c) {
  const ValueId x = c.in(0), y = c.in(1);
  const DType dtype = c.dtype(0);
  if (!c.flag("fmod")) return c.out(c.scalar(Op::mod_, {x, y}));
  if (is_integer(dtype)) {  // the least integer has no absolute value
    const ValueId rest = c.scalar(Op::sub_, {x, c.scalar(Op::mul_, {integer_quotient(c, x, y), y})});
    return c.out(c.scalar(Op::select_, {c.with(Op::eq_, y, 0), c.literal(dtype, 0), rest}));  // x % 0 is 0
  }
  const ValueId rest = c.scalar(Op::mod_, {c.scalar(Op::abs_, {x}), c.scalar(Op::abs_, {y})});
  c.out(c.scalar(Op::copysign_, {rest, x}));
}

/// Are these the numbers of v, also once they are cast to `dtype`? False: who knows.
bool stays_in(Call& c, ValueId v, DType dtype) {
  const auto numbers = c.known_literals(v);
  return numbers && std::ranges::all_of(*numbers, [&](const Literal& number) {
           const std::optional<Literal> there = rewrite::fold_cast(number, dtype);
           const std::optional<Literal> back = there ? rewrite::fold_cast(*there, number.dtype) : std::nullopt;
           return back && back->same_bits(number);
         });
}

/// In which dtype a power is computed: the exponent is not rounded to the base's.
DType power_computed_in(Call& c, DType base, DType exponent) {
  if (is_integer(base) && is_float(exponent)) return DType::f64;
  const DType both = promote(base, exponent);  // a float of u64 and i64
  return is_float(base) == is_float(both) && !stays_in(c, c.in(1), base) ? both : base;
}

/// The base says the dtype of the result; the exponent may have another.
void power(Call& c) {
  const DType base = c.dtype(0), computed = power_computed_in(c, base, c.dtype(1));
  const ValueId result = c.scalar(Op::pow_, {c.b.cast(c.in(0), computed), c.b.cast(c.in(1), computed)});
  c.out(c.b.cast(result, base));
}

void bit_shift(Call& c) {
  const std::string direction = c.word("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") throw c.wrong(str("`", direction, "` is no direction"));
  c.out(c.scalar(direction == "LEFT" ? Op::left_shift_ : Op::right_shift_, {c.in(0), c.in(1)}));
}

void where(Call& c) { c.out(c.scalar(Op::select_, {c.in(0), c.in(1), c.in(2)})); }

/// The limits are attributes before version 11, then inputs that may be left out.
void clip(Call& c) {
  ValueId x = c.in(0);
  const DType dtype = c.dtype(0);
  std::optional<ValueId> low, high;
  if (c.version < 11) {
    constexpr double kMost = std::numeric_limits<float>::max();
    low = c.literal(dtype, c.number("min", -kMost));
    high = c.literal(dtype, c.number("max", kMost));
  } else {
    low = c.maybe(1);
    high = c.maybe(2);
  }
  if (low) x = c.scalar(Op::max_, {x, *low});
  if (high) x = c.scalar(Op::min_, {x, *high});
  c.out(low || high ? x : c.in(0));
}

void relu(Call& c) { c.out(c.with(Op::max_, c.in(0), 0)); }

/// x where x > 0, else `otherwise`.
void or_where_negative(Call& c, ValueId x, ValueId otherwise) {
  c.out(c.scalar(Op::select_, {c.with(Op::lt_, x, 0), otherwise, x}));
}

void leaky_relu(Call& c) { or_where_negative(c, c.in(0), c.with(Op::mul_, c.in(0), c.number("alpha", 0.01F))); }

void prelu(Call& c) { or_where_negative(c, c.in(0), c.scalar(Op::mul_, {c.in(0), c.in(1)})); }

void thresholded_relu(Call& c) {
  const ValueId x = c.in(0);
  const ValueId is_above = c.with(Op::gt_, x, c.number("alpha", 1));
  c.out(c.scalar(Op::select_, {is_above, x, c.literal(c.dtype(0), 0)}));
}

/// expm1 of what is not positive: so that the branch that is not taken does not overflow.
ValueId exp_less_one(Call& c, ValueId x) { return c.scalar(Op::expm1_, {c.with(Op::min_, x, 0)}); }

void elu(Call& c) {
  const ValueId x = c.in(0);
  or_where_negative(c, x, c.with(Op::mul_, exp_less_one(c, x), c.number("alpha", 1)));
}

void selu(Call& c) {
  const ValueId x = c.in(0);
  const double alpha = c.number("alpha", 1.67326319217681884765625),
               gamma = c.number("gamma", 1.05070102214813232421875);
  const ValueId below = c.with(Op::mul_, exp_less_one(c, x), alpha);
  const ValueId either = c.scalar(Op::select_, {c.with(Op::gt_, x, 0), x, below});
  c.out(c.with(Op::mul_, either, gamma));
}

/// max(x, 0) + min(alpha (exp(x / alpha) - 1), 0).
void celu(Call& c) {
  const ValueId x = c.in(0);
  const double alpha = c.number("alpha", 1);
  or_where_negative(c, x, c.with(Op::mul_, exp_less_one(c, c.with(Op::div_, x, alpha)), alpha));
}

ValueId gelu_of(Call& c, ValueId x, const std::string& approximate) {
  ValueId share;
  if (approximate == "tanh") {
    const ValueId cube = c.scalar(Op::mul_, {c.scalar(Op::square_, {x}), x});
    const ValueId inner = c.scalar(Op::add_, {x, c.with(Op::mul_, cube, 0.044715)});
    share = c.scalar(Op::tanh_, {c.with(Op::mul_, inner, std::sqrt(2 / std::numbers::pi))});
  } else {
    share = c.scalar(Op::erf_, {c.with(Op::mul_, x, std::numbers::sqrt2 / 2)});
  }
  return c.scalar(Op::mul_, {c.with(Op::mul_, x, 0.5), c.with(Op::add_, share, 1)});
}

void gelu(Call& c) {
  const std::string approximate = c.word("approximate", "none");
  if (approximate != "none" && approximate != "tanh") throw c.wrong(str("`", approximate, "` is no approximation"));
  c.out(gelu_of(c, c.in(0), approximate));
}

ValueId hard_sigmoid_of(Call& c, ValueId x, double alpha, double beta) {
  const ValueId line = c.with(Op::add_, c.with(Op::mul_, x, alpha), beta);
  return c.with(Op::min_, c.with(Op::max_, line, 0), 1);
}

void hard_sigmoid(Call& c) { c.out(hard_sigmoid_of(c, c.in(0), c.number("alpha", 0.2F), c.number("beta", 0.5))); }

void hard_swish(Call& c) { c.out(c.scalar(Op::mul_, {c.in(0), hard_sigmoid_of(c, c.in(0), 1.0 / 6, 0.5)})); }

void softsign(Call& c) { c.out(c.scalar(Op::div_, {c.in(0), c.with(Op::add_, c.scalar(Op::abs_, {c.in(0)}), 1)})); }

void mish(Call& c) { c.out(c.scalar(Op::mul_, {c.in(0), c.scalar(Op::tanh_, {c.scalar(Op::softplus_, {c.in(0)})})})); }

ValueId swish_of(Call& c, ValueId x) {
  const ValueId scaled = c.with(Op::mul_, x, c.number("alpha", 1));
  return c.scalar(Op::mul_, {x, c.scalar(Op::sigmoid_, {scaled})});
}

void swish(Call& c) { c.out(swish_of(c, c.in(0))); }

/// The first input is the gate.
void swiglu(Call& c) { c.out(c.scalar(Op::mul_, {swish_of(c, c.in(0)), c.in(1)})); }

/// 0 within [-lambd, lambd], and nearer to it by `bias` outside.
void shrink(Call& c) {
  const ValueId x = c.in(0);
  const DType dtype = c.dtype(0);
  const double edge = c.number("lambd", 0.5), bias = c.number("bias", 0);
  const DType computed = is_float(dtype) ? dtype : DType::f64;
  const ValueId wide = c.b.cast(x, computed);
  const ValueId above =
      c.scalar(Op::select_, {c.with(Op::gt_, wide, edge), c.with(Op::sub_, wide, bias), c.literal(computed, 0)});
  const ValueId all = c.scalar(Op::select_, {c.with(Op::lt_, wide, -edge), c.with(Op::add_, wide, bias), above});
  c.out(c.b.cast(all, dtype));
}

void is_infinite(Call& c) {
  const ValueId x = c.in(0);
  const bool positive = c.flag("detect_positive", true), negative = c.flag("detect_negative", true);
  const ValueId is = c.scalar(Op::isinf_, {x});
  if (positive && negative) return c.out(is);
  const ValueId side = c.with(positive ? Op::gt_ : Op::lt_, x, 0);
  const ValueId none = c.b.literal(Literal::of_integer(DType::boolean, 0));
  c.out(c.scalar(Op::and_, {is, positive || negative ? side : none}));
}

void cast_to(Call& c, DType dtype) { c.out(c.b.cast(c.in(0), dtype)); }

void cast(Call& c) {
  const int64_t to = c.integer("to");
  const std::optional<DType> dtype = dtype_of_type(to);
  if (!dtype) throw c.unsupported(str("a cast to ", type_name(to)));
  cast_to(c, *dtype);
}

void cast_like(Call& c) { cast_to(c, c.dtype(1)); }

/// What a network does in use: nothing is left out.
constexpr OpRow kOps[] = {
    {"Abs", scalar<Op::abs_>},
    {"Acos", scalar<Op::arccos_>},
    {"Acosh", scalar<Op::arccosh_>},
    {"Add", scalar<Op::add_>},
    {"And", scalar<Op::and_>},
    {"Asin", scalar<Op::arcsin_>},
    {"Asinh", scalar<Op::arcsinh_>},
    {"Atan", scalar<Op::arctan_>},
    {"Atanh", scalar<Op::arctanh_>},
    {"BitShift", bit_shift},
    {"BitwiseAnd", scalar<Op::and_>},
    {"BitwiseNot", scalar<Op::not_>},
    {"BitwiseOr", scalar<Op::or_>},
    {"BitwiseXor", scalar<Op::xor_>},
    {.name = "Cast", .make = cast, .takes_narrow = true},
    {"CastLike", cast_like},
    {"Ceil", scalar<Op::ceil_>},
    {"Celu", celu},
    {"Clip", clip},
    {"Cos", scalar<Op::cos_>},
    {"Cosh", scalar<Op::cosh_>},
    {"Div", divide},
    {"Elu", elu},
    {"Equal", scalar<Op::eq_>},
    {"Erf", scalar<Op::erf_>},
    {"Exp", scalar<Op::exp_>},
    {"Floor", scalar<Op::floor_>},
    {"Gelu", gelu},
    {"Greater", scalar<Op::gt_>},
    {"GreaterOrEqual", scalar<Op::ge_>},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"IsInf", is_infinite},
    {"IsNaN", scalar<Op::isnan_>},
    {"LeakyRelu", leaky_relu},
    {"Less", scalar<Op::lt_>},
    {"LessOrEqual", scalar<Op::le_>},
    {"Log", scalar<Op::log_>},
    {"Max", variadic<Op::max_>},
    {"Mean", mean},
    {"Min", variadic<Op::min_>},
    {"Mish", mish},
    {"Mod", modulo},
    {"Mul", scalar<Op::mul_>},
    {"Neg", scalar<Op::neg_>},
    {"Not", scalar<Op::not_>},
    {"Or", scalar<Op::or_>},
    {"PRelu", prelu},
    {"Pow", power},
    {"Reciprocal", scalar<Op::reciprocal_>},
    {"Relu", relu},
    {"Round", scalar<Op::round_>},
    {"Selu", selu},
    {"Shrink", shrink},
    {"Sigmoid", scalar<Op::sigmoid_>},
    {"Sign", scalar<Op::sign_>},
    {"Sin", scalar<Op::sin_>},
    {"Sinh", scalar<Op::sinh_>},
    {"Softplus", scalar<Op::softplus_>},
    {"Softsign", softsign},
    {"Sqrt", scalar<Op::sqrt_>},
    {"Sub", scalar<Op::sub_>},
    {"Sum", variadic<Op::add_>},
    {"SwiGLU", swiglu},
    {"Swish", swish},
    {"Tan", scalar<Op::tan_>},
    {"Tanh", scalar<Op::tanh_>},
    {"ThresholdedRelu", thresholded_relu},
    {"Where", where},
    {"Xor", scalar<Op::xor_>},
};

}  // namespace

std::span<const OpRow> elementwise_ops() { return kOps; }

}  // namespace inlay::onnx
