#include "ops_table.h"

#include "backend/llvm/backend.h"
#include "ops/derivative.h"

namespace nb = nanobind;

namespace inlay::python {
namespace {

nb::list dtypes_of(ScalarOp op) {
  nb::list dtypes;
  for (int d = 0; d < kNumDTypes; ++d) {
    const auto dtype = static_cast<DType>(d);
    const std::string_view name = dtype_name(dtype);
    if (accepts(op, dtype)) dtypes.append(nb::str(name.data(), name.size()));
  }
  return dtypes;
}

nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

std::string_view result_text(ResultRule rule) {
  switch (rule) {
    case ResultRule::Same: return "same";
    case ResultRule::Bool: return "bool";
    case ResultRule::Real: return "real";
    case ResultRule::Pair: return "complex";
  }
  return "";
}

nb::dict row(ScalarOp op) {
  nb::dict out;
  out["name"] = text(facts(op).name);
  out["arity"] = facts(op).arity;
  out["dtypes"] = dtypes_of(op);
  out["result"] = text(result_text(facts(op).result));
  const bool has_f64 = accepts(op, DType::f64) || op == ScalarOp::select_;
  out["f64"] = text(has_f64 ? support_text(llvm_backend::caps().support(op, DType::f64)) : "none");
  nb::list derivatives, reasons;
  for (int operand = 0; operand < facts(op).arity; ++operand) {
    const Derivative& d = derivative(op, operand);
    derivatives.append(d.text.empty() ? nb::object(nb::none()) : nb::object(text(d.text)));
    reasons.append(text(d.why));
  }
  out["derivatives"] = derivatives;
  out["no_derivative"] = reasons;
  return out;
}

}  // namespace

void bind_ops_table(nb::module_& m) {
  m.def(
      "scalar_ops",
      [] {
        nb::list rows;
        for (int i = 0; i < kNumScalarOps; ++i) rows.append(row(static_cast<ScalarOp>(i)));
        return rows;
      },
      "The rows of the table of scalar ops: name, arity, the dtypes of the operands, the result (the same, bool, real: "
      "of the "
      "parts of a complex operand, or complex: of the operands as parts), how f64 is computed on this machine, and the "
      "derivative by each operand, or why there is none.");
}

}  // namespace inlay::python
