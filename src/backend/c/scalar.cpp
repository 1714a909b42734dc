// One ScalarOp at a time. The switch names every op: a new row in scalar_ops.def does not compile until it is here.
#include "backend/c/scalar.h"

#include <algorithm>
#include <vector>

#include "backend/c/complex.h"
#include "backend/c/functions.h"
#include "support/error.h"

namespace inlay::c_backend {
namespace {

using Operands = std::span<const std::string>;

std::string call(const std::string& function, Operands v) {
  return str(function, "(", join(v, ", ", [](const std::string& x) { return x; }), ")");
}

/// Of math.h: expf for f32.
std::string standard(const char* name, DType dtype, Operands v) {
  return call(dtype == DType::f32 ? str(name, "f") : std::string(name), v);
}

bool has_function(const std::string& name) {
  return std::ranges::find(functions(), name, &Function::name) != functions().end();
}

/// Of functions/*.c, in double; f32 goes there and back, but for machines on which doubles are expensive.
std::string own(Needs& needs, const char* name, DType dtype, Operands v) {
  const std::string of_singles = str(name, "_single");
  if (dtype == DType::f32 && needs.in_singles && has_function(of_singles)) return call(needs.use(of_singles), v);
  const std::string text = call(needs.use(str(name, "_f64")), v);
  return dtype == DType::f32 ? str("(float)", text) : text;
}

/// Of functions/elementary.c; of floats too, where the math has a function of floats.
std::string elementary(Needs& needs, const char* name, DType dtype, Operands v) {
  const std::string of_floats = str(name, "_f32");
  const bool has_other = needs.in_singles && has_function(str(name, "_single"));
  if (dtype == DType::f32 && has_function(of_floats) && !has_other) return call(needs.use(of_floats), v);
  return own(needs, name, dtype, v);
}

/// What C99 has not, and this backend neither: a function that whoever links the code supplies.
std::string called(Needs& needs, const char* name, DType dtype, Operands v) {
  const std::string symbol = str("inlay_s_", name);
  std::vector<std::string> types(v.size(), "double");
  needs.externals[symbol] = {.declaration = str("extern double ", symbol, "(",
                                                join(types, ", ", [](const std::string& x) { return x; }), ");"),
                             .op = name};
  const std::string text = call(symbol, v);
  return dtype == DType::f32 ? str("(float)", text) : text;
}

/// Of functions/special.c, which leaves some operands to such a function.
std::string partly_called(Needs& needs, const char* name, DType dtype, Operands v) {
  called(needs, name, dtype, v);
  std::vector<std::string> operands(v.begin(), v.end());
  operands.push_back(str("inlay_s_", name));
  const std::string text = call(needs.use(str(name, "_f64")), operands);
  return dtype == DType::f32 ? str("(float)", text) : text;
}

/// Arithmetic that wraps: without a sign, as wide as the numbers or wider.
std::string wrapping(DType dtype, const std::string& a, const char* op, const std::string& b) {
  if (dtype == DType::u32 || dtype == DType::u64) return str(a, " ", op, " ", b);
  const char* wide = size_bytes(dtype) == 8 ? "uint64_t" : "uint32_t";
  return str("(", memory_type(dtype), ")((", wide, ")", a, " ", op, " (", wide, ")", b, ")");
}

std::string arithmetic(DType dtype, Operands v, const char* op) {
  return is_float(dtype) ? str(v[0], " ", op, " ", v[1]) : wrapping(dtype, v[0], op, v[1]);
}

std::string narrowed(DType dtype, const std::string& call) {
  return size_bytes(dtype) == 8 ? call : str("(", memory_type(dtype), ")", call);
}

/// By the function of 64 bits; the low bits are those of any width.
std::string integer_call(Needs& needs, const char* name, DType dtype, Operands v) {
  return narrowed(dtype, call(needs.use(str(name, is_signed_integer(dtype) ? "_i64" : "_u64")), v));
}

std::string integer_power(Needs& needs, DType dtype, Operands v) {
  const std::vector<std::string> bits = {str("(uint64_t)", v[0]), str("(uint64_t)", v[1])};
  const std::string text = call(needs.use("pow_u64"), bits);
  return dtype == DType::u64 ? text : str("(", memory_type(dtype), ")", text);
}

std::string shift_left(Needs& needs, DType dtype, Operands v) {
  const std::string text =
      str(needs.use("left_shift"), "((uint64_t)", v[0], ", (int64_t)", v[1], ", ", 8 * size_bytes(dtype), ")");
  return dtype == DType::u64 ? text : str("(", memory_type(dtype), ")", text);
}

std::string negated(DType dtype, const std::string& x) {
  if (is_float(dtype)) return str("-", x);
  return wrapping(dtype, "0", "-", x);
}

std::string absolute(DType dtype, Operands v) {
  if (is_float(dtype)) return standard("fabs", dtype, v);
  if (!is_signed_integer(dtype)) return v[0];
  return str(v[0], " < 0 ? ", negated(dtype, v[0]), " : ", v[0]);
}

std::string sign(Needs& needs, DType dtype, Operands v) {
  if (is_float(dtype)) return elementary(needs, "sign", dtype, v);
  if (!is_signed_integer(dtype)) return str(v[0], " != 0");
  return str("(", v[0], " > 0) - (", v[0], " < 0)");
}

std::string extremum(Needs& needs, DType dtype, Operands v, bool maximum) {
  if (dtype == DType::boolean) return str(v[0], maximum ? " || " : " && ", v[1]);
  if (is_float(dtype)) return call(needs.use(str(maximum ? "max_" : "min_", suffix(dtype))), v);
  return str(v[0], maximum ? " > " : " < ", v[1], " ? ", v[0], " : ", v[1]);
}

std::string clipped(Needs& needs, DType dtype, Operands v) {
  const std::string low = extremum(needs, dtype, v.first(2), true);
  const std::vector<std::string> bounded = {is_float(dtype) ? low : str("(", low, ")"), v[2]};
  return extremum(needs, dtype, bounded, false);
}

std::string logical(DType dtype, Operands v, const char* of_bool, const char* of_bits) {
  if (dtype == DType::boolean) return str(v[0], " ", of_bool, " ", v[1]);
  return narrowed(dtype, str("(", v[0], " ", of_bits, " ", v[1], ")"));
}

/// f16 and bf16: computed in f32, and rounded.
std::string in_f32(Needs& needs, ScalarOp op, DType dtype, Operands v) {
  std::vector<std::string> wide;
  for (const std::string& x : v) wide.push_back(cast_text(needs, x, dtype, DType::f32));
  const std::string text = op_text(needs, op, DType::f32, wide);
  if (result_dtype(op, dtype) == DType::boolean) return text;
  return dtype == DType::f16 ? str(needs.use("f16_of_f64"), "(", text, ")")
                             : str(needs.use("bf16_of_f32"), "(", text, ")");
}

std::string real_op_text(Needs& needs, ScalarOp op, DType dtype, Operands v) {
  switch (op) {
    case ScalarOp::neg_: return negated(dtype, v[0]);
    case ScalarOp::abs_: return absolute(dtype, v);
    case ScalarOp::sign_: return sign(needs, dtype, v);
    case ScalarOp::reciprocal_: return str("1 / ", v[0]);
    case ScalarOp::square_: return arithmetic(dtype, std::vector{v[0], v[0]}, "*");
    case ScalarOp::sqrt_: return standard("sqrt", dtype, v);
    case ScalarOp::cbrt_: return elementary(needs, "cbrt", dtype, v);
    case ScalarOp::exp_: return elementary(needs, "exp", dtype, v);
    case ScalarOp::exp2_: return elementary(needs, "exp2", dtype, v);
    case ScalarOp::expm1_: return elementary(needs, "expm1", dtype, v);
    case ScalarOp::log_: return elementary(needs, "log", dtype, v);
    case ScalarOp::log2_: return elementary(needs, "log2", dtype, v);
    case ScalarOp::log10_: return elementary(needs, "log10", dtype, v);
    case ScalarOp::log1p_: return elementary(needs, "log1p", dtype, v);
    case ScalarOp::log1mexp_: return elementary(needs, "log1mexp", dtype, v);
    case ScalarOp::sigmoid_: return elementary(needs, "sigmoid", dtype, v);
    case ScalarOp::softplus_: return elementary(needs, "softplus", dtype, v);
    case ScalarOp::sin_: return elementary(needs, "sin", dtype, v);
    case ScalarOp::cos_: return elementary(needs, "cos", dtype, v);
    case ScalarOp::tan_: return elementary(needs, "tan", dtype, v);
    case ScalarOp::arcsin_: return elementary(needs, "arcsin", dtype, v);
    case ScalarOp::arccos_: return elementary(needs, "arccos", dtype, v);
    case ScalarOp::arctan_: return elementary(needs, "arctan", dtype, v);
    case ScalarOp::sinh_: return elementary(needs, "sinh", dtype, v);
    case ScalarOp::cosh_: return elementary(needs, "cosh", dtype, v);
    case ScalarOp::tanh_: return elementary(needs, "tanh", dtype, v);
    case ScalarOp::arcsinh_: return elementary(needs, "arcsinh", dtype, v);
    case ScalarOp::arccosh_: return elementary(needs, "arccosh", dtype, v);
    case ScalarOp::arctanh_: return elementary(needs, "arctanh", dtype, v);
    case ScalarOp::deg2rad_: return str(v[0], " * ", constant(needs, Literal::of_float(dtype, 0.017453292519943295)));
    case ScalarOp::rad2deg_: return str(v[0], " * ", constant(needs, Literal::of_float(dtype, 57.29577951308232)));
    case ScalarOp::floor_: return standard("floor", dtype, v);
    case ScalarOp::ceil_: return standard("ceil", dtype, v);
    case ScalarOp::round_: return standard("nearbyint", dtype, v);
    case ScalarOp::trunc_: return standard("trunc", dtype, v);
    case ScalarOp::erf_: return elementary(needs, "erf", dtype, v);
    case ScalarOp::erfc_: return elementary(needs, "erfc", dtype, v);
    case ScalarOp::erfcx_: return own(needs, "erfcx", dtype, v);
    case ScalarOp::ndtr_: return own(needs, "ndtr", dtype, v);
    case ScalarOp::log_ndtr_: return own(needs, "log_ndtr", dtype, v);
    case ScalarOp::logit_: return own(needs, "logit", dtype, v);
    case ScalarOp::lgamma_: return own(needs, "lgamma", dtype, v);
    case ScalarOp::gamma_: return own(needs, "gamma", dtype, v);
    case ScalarOp::erfinv_: return own(needs, "erfinv", dtype, v);
    case ScalarOp::erfcinv_: return own(needs, "erfcinv", dtype, v);
    case ScalarOp::ndtri_: return own(needs, "ndtri", dtype, v);
    case ScalarOp::ndtri_exp_: return called(needs, "ndtri_exp", dtype, v);
    case ScalarOp::digamma_: return partly_called(needs, "digamma", dtype, v);
    case ScalarOp::trigamma_: return partly_called(needs, "trigamma", dtype, v);
    case ScalarOp::i0_: return own(needs, "i0", dtype, v);
    case ScalarOp::i1_: return own(needs, "i1", dtype, v);
    case ScalarOp::j0_: return called(needs, "j0", dtype, v);
    case ScalarOp::j1_: return called(needs, "j1", dtype, v);
    case ScalarOp::beta_: return called(needs, "beta", dtype, v);
    case ScalarOp::lbeta_: return own(needs, "lbeta", dtype, v);
    case ScalarOp::polygamma_: return called(needs, "polygamma", dtype, v);
    case ScalarOp::gammainc_: return called(needs, "gammainc", dtype, v);
    case ScalarOp::gammaincc_: return called(needs, "gammaincc", dtype, v);
    case ScalarOp::gammainc_da_: return called(needs, "gammainc_da", dtype, v);
    case ScalarOp::betainc_: return called(needs, "betainc", dtype, v);
    case ScalarOp::betainc_da_: return called(needs, "betainc_da", dtype, v);
    case ScalarOp::betainc_db_: return called(needs, "betainc_db", dtype, v);
    case ScalarOp::gammaincinv_: return called(needs, "gammaincinv", dtype, v);
    case ScalarOp::gammainccinv_: return called(needs, "gammainccinv", dtype, v);
    case ScalarOp::owens_t_: return called(needs, "owens_t", dtype, v);
    case ScalarOp::jv_: return called(needs, "jv", dtype, v);
    case ScalarOp::ive_: return partly_called(needs, "ive", dtype, v);
    case ScalarOp::kve_: return called(needs, "kve", dtype, v);
    case ScalarOp::betaincinv_: return called(needs, "betaincinv", dtype, v);
    case ScalarOp::hyp2f1_: return called(needs, "hyp2f1", dtype, v);
    case ScalarOp::isnan_: return str(v[0], " != ", v[0]);
    case ScalarOp::isinf_: return str("isinf(", v[0], ") != 0");
    case ScalarOp::isfinite_: return str("isfinite(", v[0], ") != 0");
    case ScalarOp::signbit_:  // not the macro: gcc 12 breaks where it makes vectors of that
      return str(standard("copysign", dtype, std::vector<std::string>{dtype == DType::f32 ? "1.0f" : "1.0", v[0]}),
                 " < 0");
    case ScalarOp::not_: return dtype == DType::boolean ? str("!", v[0]) : narrowed(dtype, str("~", v[0]));
    case ScalarOp::add_: return arithmetic(dtype, v, "+");
    case ScalarOp::sub_: return arithmetic(dtype, v, "-");
    case ScalarOp::mul_: return arithmetic(dtype, v, "*");
    case ScalarOp::div_: return str(v[0], " / ", v[1]);
    case ScalarOp::floor_div_:
      return is_float(dtype) ? own(needs, "floor_div", dtype, v) : integer_call(needs, "floor_div", dtype, v);
    case ScalarOp::mod_:
      return is_float(dtype) ? elementary(needs, "mod", dtype, v) : integer_call(needs, "mod", dtype, v);
    case ScalarOp::pow_: return is_float(dtype) ? elementary(needs, "pow", dtype, v) : integer_power(needs, dtype, v);
    case ScalarOp::max_: return extremum(needs, dtype, v, true);
    case ScalarOp::min_: return extremum(needs, dtype, v, false);
    case ScalarOp::arctan2_: return elementary(needs, "arctan2", dtype, v);
    case ScalarOp::copysign_: return standard("copysign", dtype, v);
    case ScalarOp::nextafter_: return standard("nextafter", dtype, v);
    case ScalarOp::complex_: use_type(needs, complex_of(dtype)); return complex_text(complex_of(dtype), v[0], v[1]);
    case ScalarOp::xlogy_: return own(needs, "xlogy", dtype, v);
    case ScalarOp::xlog1py_: return own(needs, "xlog1py", dtype, v);
    case ScalarOp::logaddexp_: return own(needs, "logaddexp", dtype, v);
    case ScalarOp::eq_: return str(v[0], " == ", v[1]);
    case ScalarOp::ne_: return str(v[0], " != ", v[1]);
    case ScalarOp::lt_: return str(v[0], " < ", v[1]);
    case ScalarOp::le_: return str(v[0], " <= ", v[1]);
    case ScalarOp::gt_: return str(v[0], " > ", v[1]);
    case ScalarOp::ge_: return str(v[0], " >= ", v[1]);
    case ScalarOp::and_: return logical(dtype, v, "&&", "&");
    case ScalarOp::or_: return logical(dtype, v, "||", "|");
    case ScalarOp::xor_: return logical(dtype, v, "!=", "^");
    case ScalarOp::left_shift_: return shift_left(needs, dtype, v);
    case ScalarOp::right_shift_: return integer_call(needs, "right_shift", dtype, v);
    case ScalarOp::clip_: return clipped(needs, dtype, v);
    case ScalarOp::real_:
    case ScalarOp::imag_:
    case ScalarOp::conj_:
    case ScalarOp::angle_:  // of complex operands only
    case ScalarOp::select_: break;
  }
  INLAY_CHECK(false, "`", facts(op).name, "` of ", dtype_name(dtype));
  return "";
}

}  // namespace

std::string op_text(Needs& needs, ScalarOp op, DType dtype, Operands v) {
  if (op == ScalarOp::select_) return str(v[0], " ? ", v[1], " : ", v[2]);
  if (is_complex(dtype)) return complex_op_text(needs, op, dtype, v);
  return is_half(dtype) ? in_f32(needs, op, dtype, v) : real_op_text(needs, op, dtype, v);
}

Origin origin_of(ScalarOp op, DType dtype) {
  Needs needs;
  const std::vector<std::string> operands(static_cast<std::size_t>(facts(op).arity), "x");
  op_text(needs, op, dtype, operands);
  return needs.externals.empty() ? Origin::c99 : Origin::called;
}

std::string cast_text(Needs& needs, const std::string& value, DType from, DType to) {
  const auto function = [&](const char* name, const std::string& of) { return str(needs.use(name), "(", of, ")"); };
  if (from == to) return value;
  use_type(needs, to);
  if (is_complex(from)) {
    INLAY_CHECK(is_complex(to), "a complex number is cast to ", dtype_name(to));
    const std::string_view part = memory_type(real_of(to));
    return complex_text(to, str("(", part, ")", value, ".re"), str("(", part, ")", value, ".im"));
  }
  if (is_complex(to)) return complex_text(to, cast_text(needs, value, from, real_of(to)), "0");
  if (is_half(from)) {
    return cast_text(needs, function(from == DType::f16 ? "f32_of_f16" : "f32_of_bf16", value), DType::f32, to);
  }
  if (to == DType::f16) return function("f16_of_f64", cast_text(needs, value, from, DType::f64));
  if (to == DType::bf16) {
    return function("bf16_of_f32",
                    from == DType::f32 ? value : str("(float)", cast_text(needs, value, from, DType::f64)));
  }
  if (to == DType::boolean) return str(value, " != 0");
  if (is_float(from) && to == DType::u64) return function("u64_of_f64", value);
  if (is_float(from) && is_integer(to)) return narrowed(to, function("i64_of_f64", value));
  return str("(", memory_type(to), ")", value);
}

std::string small_cast_text(Needs& needs, const std::string& value, DType to) {
  use_type(needs, to);
  const std::string whole = str("(", value, " == ", value, " ? (int32_t)", value, " : 0)");
  return to == DType::i32 ? whole : str("(", memory_type(to), ")", whole);
}

}  // namespace inlay::c_backend
