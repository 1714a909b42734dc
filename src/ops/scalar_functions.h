#pragma once
// Scalar functions behind the C calling convention: what a fused loop calls per lane where there is no vector form.
//
// NumPy's and SciPy's values in every corner. Nothing is thrown and nothing but errno is written, so any thread may
// call them. Machine code refers to them by symbol; a loader finds the address with find_scalar_function. docs/math.md
// has their errors.
#include <cstdint>
#include <span>
#include <string_view>

// clang-format off
// double -> double
#define INLAY_SCALAR_UNARY(X)                                                                                   \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(log1mexp) X(sigmoid) X(softplus) X(cbrt)           \
  X(sin) X(cos) X(tan) X(arcsin) X(arccos) X(arctan) X(sinh) X(cosh) X(tanh) X(arcsinh) X(arccosh) X(arctanh)   \
  X(erf) X(erfc) X(erfcx) X(erfinv) X(erfcinv) X(ndtr) X(ndtri) X(ndtri_exp) X(log_ndtr) X(logit) X(gamma)          \
  X(lgamma) X(digamma) X(trigamma) X(i0) X(i1) X(j0) X(j1) X(round) X(sign)
// (double, double) -> double
#define INLAY_SCALAR_BINARY(X) X(pow) X(arctan2) X(hypot) X(floor_div) X(mod) X(nextafter)                      \
  X(xlogy) X(xlog1py) X(logaddexp) X(beta) X(lbeta) X(polygamma) X(gammainc) X(gammaincc) X(gammainc_da)        \
  X(gammaincinv) X(gammainccinv) X(owens_t) X(jv) X(ive) X(kve)
// (double, double, double) -> double
#define INLAY_SCALAR_TERNARY(X) X(betainc) X(betainc_da) X(betainc_db) X(betaincinv)
// (double, double, double, double) -> double
#define INLAY_SCALAR_QUATERNARY(X) X(hyp2f1)
// (int64, int64) -> int64; everything wraps
#define INLAY_SCALAR_INTEGER(X) X(floor_div_i64) X(mod_i64) X(pow_i64)
// (complex, by its parts) -> complex: the real part is returned, the imaginary part written
#define INLAY_SCALAR_COMPLEX(X)                                                                                 \
  X(csqrt) X(cexp) X(cexp2) X(cexpm1) X(clog) X(clog2) X(clog10) X(clog1p) X(csin) X(ccos) X(ctan) X(carcsin)   \
  X(carccos) X(carctan) X(csinh) X(ccosh) X(ctanh) X(carcsinh) X(carccosh) X(carctanh) X(csign)
// (complex, complex) -> complex, likewise
#define INLAY_SCALAR_COMPLEX_BINARY(X) X(cpow)
// clang-format on

extern "C" {
#define INLAY_DECLARE(name) double inlay_s_##name(double x) noexcept;
INLAY_SCALAR_UNARY(INLAY_DECLARE)
#undef INLAY_DECLARE
#define INLAY_DECLARE(name) double inlay_s_##name(double x, double y) noexcept;
INLAY_SCALAR_BINARY(INLAY_DECLARE)
#undef INLAY_DECLARE
#define INLAY_DECLARE(name) double inlay_s_##name(double x, double y, double z) noexcept;
INLAY_SCALAR_TERNARY(INLAY_DECLARE)
#undef INLAY_DECLARE
#define INLAY_DECLARE(name) double inlay_s_##name(double x, double y, double z, double w) noexcept;
INLAY_SCALAR_QUATERNARY(INLAY_DECLARE)
#undef INLAY_DECLARE
#define INLAY_DECLARE(name) int64_t inlay_s_##name(int64_t x, int64_t y) noexcept;
INLAY_SCALAR_INTEGER(INLAY_DECLARE)
#undef INLAY_DECLARE
#define INLAY_DECLARE(name) double inlay_s_##name(double re, double im, double* im_result) noexcept;
INLAY_SCALAR_COMPLEX(INLAY_DECLARE)
#undef INLAY_DECLARE
#define INLAY_DECLARE(name) \
  double inlay_s_##name(double re_x, double im_x, double re_y, double im_y, double* im_result) noexcept;
INLAY_SCALAR_COMPLEX_BINARY(INLAY_DECLARE)
#undef INLAY_DECLARE
}

namespace inlay {

enum class ScalarSignature : uint8_t {
  f64_f64,
  f64_f64_f64,
  f64_f64_f64_f64,
  f64_f64_f64_f64_f64,
  i64_i64_i64,
  c128_c128,
  c128_c128_c128
};  // operands, then the result

struct ScalarFunction {
  std::string_view name;    // "lgamma": the scalar op, where one has this name
  std::string_view symbol;  // "inlay_s_lgamma"
  int arity = 0;
  ScalarSignature signature = ScalarSignature::f64_f64;
  const void* address = nullptr;
};

std::span<const ScalarFunction> scalar_functions();

/// By name or by symbol; null where there is none.
const ScalarFunction* find_scalar_function(std::string_view name_or_symbol);

}  // namespace inlay
