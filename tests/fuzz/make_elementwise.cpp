// Ops of one element at a time.
#include "graph_maker.h"

namespace inlay::fuzz {

bool GraphMaker::jumps(ScalarOp op) {
  switch (op) {
    case ScalarOp::floor_:
    case ScalarOp::ceil_:
    case ScalarOp::round_:
    case ScalarOp::trunc_:
    case ScalarOp::sign_:
    case ScalarOp::isnan_:
    case ScalarOp::isinf_:
    case ScalarOp::isfinite_:
    case ScalarOp::signbit_:
    case ScalarOp::copysign_:
    case ScalarOp::nextafter_:
    case ScalarOp::floor_div_:
    case ScalarOp::mod_:
    case ScalarOp::eq_:
    case ScalarOp::ne_:
    case ScalarOp::lt_:
    case ScalarOp::le_:
    case ScalarOp::gt_:
    case ScalarOp::ge_:
    case ScalarOp::pow_:
    case ScalarOp::arctan2_:
    case ScalarOp::lgamma_:
    case ScalarOp::gamma_:
    case ScalarOp::digamma_:
    case ScalarOp::trigamma_:
    case ScalarOp::polygamma_:
    case ScalarOp::beta_:
    case ScalarOp::lbeta_:
    case ScalarOp::xlogy_:
    case ScalarOp::xlog1py_:
    case ScalarOp::gammainc_:
    case ScalarOp::gammaincc_:
    case ScalarOp::gammainc_da_:
    case ScalarOp::ndtri_exp_:
    case ScalarOp::gammaincinv_:
    case ScalarOp::gammainccinv_:
    case ScalarOp::owens_t_:
    case ScalarOp::jv_:
    case ScalarOp::ive_:
    case ScalarOp::kve_:
    case ScalarOp::betainc_:
    case ScalarOp::betainc_da_:
    case ScalarOp::betainc_db_:
    case ScalarOp::betaincinv_:
    case ScalarOp::hyp2f1_: return true;
    default: return false;  // clang-format off: a choice among ops, not a case for each
  }
}

bool GraphMaker::jumps_in_the_plane(ScalarOp op) {
  switch (op) {
    case ScalarOp::neg_: case ScalarOp::abs_: case ScalarOp::square_: case ScalarOp::exp_: case ScalarOp::sin_:
    case ScalarOp::cos_: case ScalarOp::sinh_: case ScalarOp::cosh_: case ScalarOp::real_: case ScalarOp::imag_:
    case ScalarOp::conj_: case ScalarOp::add_: case ScalarOp::sub_: case ScalarOp::mul_: case ScalarOp::select_: return false;
    default: return true;
  }
}

bool GraphMaker::rounds(ScalarOp op, DType dtype) {
  if (is_complex(dtype) && op == ScalarOp::abs_) return true;
  switch (op) {
    case ScalarOp::real_: case ScalarOp::imag_: case ScalarOp::conj_: case ScalarOp::complex_:
    case ScalarOp::neg_: case ScalarOp::abs_: case ScalarOp::sign_: case ScalarOp::floor_: case ScalarOp::ceil_:
    case ScalarOp::round_: case ScalarOp::trunc_: case ScalarOp::max_: case ScalarOp::min_: case ScalarOp::select_:
    case ScalarOp::clip_: case ScalarOp::copysign_: case ScalarOp::nextafter_: return false;
    default: return true;
  }
}

void GraphMaker::scalar() {
  const auto op = static_cast<ScalarOp>(draw(0, kNumScalarOps - 1));
  const bool is_select = op == ScalarOp::select_;
  const auto fits = [&](const Entry& e) {
    const DType dtype = type(e.v).dtype;
    if (op == ScalarOp::pow_ && is_signed_integer(dtype)) return false;  // it could fail
    // The maximum of 0.0 and -0.0 is either; so is the first of them when they are sorted.
    const bool shows_sign = op == ScalarOp::signbit_ || op == ScalarOp::copysign_;
    if (shows_sign && options_.elements == tool::Elements::nasty && builder_.graph().node_of(e.v)) return false;
    return accepts(op, dtype) && (e.exact || is_integer(dtype) || !(is_complex(dtype) ? jumps_in_the_plane(op) : jumps(op)));
  };
  const auto first = pick(fits);
  if (!first) return;
  const DType dtype = type(pool_[*first].v).dtype;
  std::vector<ValueId> operands = {use(*first)};
  bool exact = pool_[*first].exact;
  std::vector<Dim> dims = type(operands[0]).dims;
  const auto another = [&](DType wanted) {
    const auto next = pick([&](const Entry& e) {
      return type(e.v).dtype == wanted && (fits(e) || wanted != dtype) && stretches(type(e.v).dims, dims);
    });
    if (!next || chance(15)) return literal(wanted);
    exact = exact && pool_[*next].exact;
    if (type(pool_[*next].v).dims.size() > dims.size()) dims = type(pool_[*next].v).dims;
    return use(*next);
  };
  // With three operands of different ranks two may fit the first and not each other: then not this time.
  if (facts(op).arity >= 2) operands.push_back(another(dtype));
  if (facts(op).arity >= 3 && !is_select) operands.push_back(another(dtype));
  if (facts(op).arity >= 4) operands.push_back(another(dtype));
  if (is_select) operands.insert(operands.begin(), another(DType::boolean));
  for (ValueId a : operands) {
    for (ValueId b : operands) {
      if (!stretches(type(a).dims, type(b).dims)) return;
    }
  }
  add(builder_.scalar(op, operands), is_inexact(result_dtype(op, dtype)) ? exact && !rounds(op, dtype) : true);
}

void GraphMaker::cast() {
  const DType to = of(kDTypes);
  const auto x = pick([&](const Entry& e) {
    const DType from = type(e.v).dtype;
    const bool to_integer = is_float(from) && !is_inexact(to);
    const bool loses_part = is_complex(from) && !is_complex(to);
    return computes(from) && !loses_part && !(to_integer && (!e.exact || options_.elements == tool::Elements::nasty));
  });
  if (!x) return;
  const bool rounds = promote(type(pool_[*x].v).dtype, to) != to;
  add(builder_.cast(use(*x), to), is_inexact(to) ? pool_[*x].exact && !rounds : true);
}

}  // namespace inlay::fuzz
