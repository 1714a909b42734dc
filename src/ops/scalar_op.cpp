#include "ops/scalar_op.h"

#include <array>

#include "support/error.h"

namespace inlay {
namespace {

constexpr std::array<ScalarOpFacts, kNumScalarOps> kFacts = {{
#define SCALAR_OP(name, arity, operands, result, cost, reference) \
  {#name, arity, OperandClass::operands, ResultRule::result, cost},
#include "ops/scalar_ops.def"
#undef SCALAR_OP
}};

constexpr std::array<std::string_view, 8> kCombineNames = {"set", "add", "mul", "max", "min", "and", "or", "xor"};

}  // namespace

const ScalarOpFacts& facts(ScalarOp op) { return kFacts[static_cast<std::size_t>(op)]; }

std::optional<ScalarOp> scalar_op_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<ScalarOp>(i);
  }
  return std::nullopt;
}

bool accepts(ScalarOp op, DType dtype) {
  const bool is_bool = dtype == DType::boolean;
  switch (facts(op).operands) {
    case OperandClass::Numeric: return is_integer(dtype) || is_float(dtype);
    case OperandClass::Floating: return is_float(dtype);
    case OperandClass::Ordered: return is_bool || is_integer(dtype) || is_float(dtype);
    case OperandClass::Integer: return is_integer(dtype);
    case OperandClass::Logical: return is_bool || is_integer(dtype);
    case OperandClass::Number: return is_integer(dtype) || is_float(dtype) || is_complex(dtype);
    case OperandClass::Analytic: return is_float(dtype) || is_complex(dtype);
    case OperandClass::Complex: return is_complex(dtype);
    case OperandClass::Part: return dtype == DType::f32 || dtype == DType::f64;
    case OperandClass::Any: return dtype != DType::opaque;
  }
  return false;
}

DType result_dtype(ScalarOp op, DType dtype) {
  switch (facts(op).result) {
    case ResultRule::Same: return dtype;
    case ResultRule::Bool: return DType::boolean;
    case ResultRule::Real: return real_of(dtype);
    case ResultRule::Pair: return complex_of(dtype);
  }
  return dtype;
}

std::string_view combine_name(Combine combine) { return kCombineNames[static_cast<std::size_t>(combine)]; }

std::span<const std::string_view> combine_names() { return kCombineNames; }

std::optional<Combine> combine_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kCombineNames.size(); ++i) {
    if (kCombineNames[i] == name) return static_cast<Combine>(i);
  }
  return std::nullopt;
}

ScalarOp combine_op(Combine combine) {
  switch (combine) {
    case Combine::add: return ScalarOp::add_;
    case Combine::mul: return ScalarOp::mul_;
    case Combine::max: return ScalarOp::max_;
    case Combine::min: return ScalarOp::min_;
    case Combine::and_: return ScalarOp::and_;
    case Combine::or_: return ScalarOp::or_;
    case Combine::xor_: return ScalarOp::xor_;
    case Combine::set: break;
  }
  INLAY_CHECK(false, "`set` does not combine");
  return ScalarOp::add_;
}

}  // namespace inlay
