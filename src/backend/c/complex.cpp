#include "backend/c/complex.h"

#include "support/error.h"

namespace inlay::c_backend {
namespace {

class ComplexOp {
 public:
  ComplexOp(Needs& needs, DType dtype, std::span<const std::string> v)
      : needs_(needs), type_(suffix(dtype)), is_c64_(dtype == DType::c64), a_(v[0]), b_(v.back()) {
    use_type(needs, dtype);
  }

  std::string operator()(ScalarOp op) {
    switch (op) {
      case ScalarOp::neg_: return made(str("-", re()), str("-", im()));
      case ScalarOp::abs_: return str(is_c64_ ? "(float)" : "", "hypot(", re(), ", ", im(), ")");
      case ScalarOp::sign_: return function("sign");
      case ScalarOp::reciprocal_: return str(needs_.use("reciprocal_" + type_), "(", a_, ")");
      case ScalarOp::square_: return str(needs_.use("mul_" + type_), "(", a_, ", ", a_, ")");
      case ScalarOp::sqrt_: return function("sqrt");
      case ScalarOp::exp_: return function("exp");
      case ScalarOp::exp2_: return function("exp2");
      case ScalarOp::expm1_: return function("expm1");
      case ScalarOp::log_: return function("log");
      case ScalarOp::log2_: return function("log2");
      case ScalarOp::log10_: return function("log10");
      case ScalarOp::log1p_: return function("log1p");
      case ScalarOp::sin_: return function("sin");
      case ScalarOp::cos_: return function("cos");
      case ScalarOp::tan_: return function("tan");
      case ScalarOp::arcsin_: return function("arcsin");
      case ScalarOp::arccos_: return function("arccos");
      case ScalarOp::arctan_: return function("arctan");
      case ScalarOp::sinh_: return function("sinh");
      case ScalarOp::cosh_: return function("cosh");
      case ScalarOp::tanh_: return function("tanh");
      case ScalarOp::arcsinh_: return function("arcsinh");
      case ScalarOp::arccosh_: return function("arccosh");
      case ScalarOp::arctanh_: return function("arctanh");
      case ScalarOp::isnan_: return str("isnan(", re(), ") || isnan(", im(), ")");
      case ScalarOp::isinf_: return str("isinf(", re(), ") || isinf(", im(), ")");
      case ScalarOp::isfinite_: return str("isfinite(", re(), ") && isfinite(", im(), ")");
      case ScalarOp::real_: return re();
      case ScalarOp::imag_: return im();
      case ScalarOp::conj_: return made(re(), str("-", im()));
      case ScalarOp::angle_: return str(is_c64_ ? "atan2f(" : "atan2(", im(), ", ", re(), ")");
      case ScalarOp::add_: return made(str(re(), " + ", b_, ".re"), str(im(), " + ", b_, ".im"));
      case ScalarOp::sub_: return made(str(re(), " - ", b_, ".re"), str(im(), " - ", b_, ".im"));
      case ScalarOp::mul_: return str(needs_.use("mul_" + type_), "(", a_, ", ", b_, ")");
      case ScalarOp::div_: return str(needs_.use("div_" + type_), "(", a_, ", ", b_, ")");
      case ScalarOp::pow_: return in_double(str(needs_.use("pow_c128"), "(", widened(a_), ", ", widened(b_), ")"));
      case ScalarOp::eq_: return str(re(), " == ", b_, ".re && ", im(), " == ", b_, ".im");
      case ScalarOp::ne_: return str(re(), " != ", b_, ".re || ", im(), " != ", b_, ".im");
      default: break;  // a new row that accepts complex numbers is found by ops_test.cpp, which walks the table
    }
    INLAY_CHECK(false, "`", facts(op).name, "` of complex numbers");
    return "";
  }

 private:
  std::string re() const { return a_ + ".re"; }
  std::string im() const { return a_ + ".im"; }
  std::string made(const std::string& re, const std::string& im) const {
    return complex_text(is_c64_ ? DType::c64 : DType::c128, re, im);
  }
  std::string widened(const std::string& z) const { return is_c64_ ? str(needs_.use("c128_of_c64"), "(", z, ")") : z; }
  std::string in_double(const std::string& call) const {
    return is_c64_ ? str(needs_.use("c64_of_c128"), "(", call, ")") : call;
  }
  /// Of functions/complex.c: in double, and rounded for c64.
  std::string function(const char* name) const {
    return in_double(str(needs_.use(str(name, "_c128")), "(", widened(a_), ")"));
  }

  Needs& needs_;
  std::string type_;
  bool is_c64_;
  const std::string &a_, &b_;
};

}  // namespace

std::string complex_op_text(Needs& needs, ScalarOp op, DType dtype, std::span<const std::string> operands) {
  return ComplexOp(needs, dtype, operands)(op);
}

}  // namespace inlay::c_backend
