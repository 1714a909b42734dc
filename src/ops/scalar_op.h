#pragma once
// The table of scalar ops as an enum, and the facts of each row.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ops/dtype.h"

namespace inlay {

/// One elementwise function. Enumerators end in `_` because some names (`and`, `not`) are C++ keywords.
enum class ScalarOp : uint8_t {
#define SCALAR_OP(name, arity, operands, result, cost, reference) name##_,
#include "ops/scalar_ops.def"
#undef SCALAR_OP
};

inline constexpr int kNumScalarOps = 0
#define SCALAR_OP(name, arity, operands, result, cost, reference) +1
#include "ops/scalar_ops.def"
#undef SCALAR_OP
    ;

enum class OperandClass : uint8_t {
  Numeric,
  Floating,
  Ordered,
  Integer,
  Logical,
  Number,
  Analytic,
  Complex,
  Part,
  Any
};
enum class ResultRule : uint8_t { Same, Bool, Real, Pair };

struct ScalarOpFacts {
  std::string_view name;
  int arity;
  OperandClass operands;
  ResultRule result;
  int cost;
};

constexpr int kCostOfDivision = 4;

/// The cost of a square root: what costs more has no instruction, on any CPU.
constexpr int kCostOfRoot = 5;

const ScalarOpFacts& facts(ScalarOp op);
std::optional<ScalarOp> scalar_op_from_name(std::string_view name);

/// Does the op take operands of `dtype`? (For select: of the branches.)
bool accepts(ScalarOp op, DType dtype);

/// The dtype of its result for operands of a dtype that it accepts.
DType result_dtype(ScalarOp op, DType dtype);

/// How a write, a reduction or a fold combines a new element with what is there.
enum class Combine : uint8_t { set, add, mul, max, min, and_, or_, xor_ };
std::string_view combine_name(Combine combine);     // "set", "add", "mul", "max", "min", "and", "or", "xor"
std::span<const std::string_view> combine_names();  // all of them, for readers of text forms
std::optional<Combine> combine_from_name(std::string_view name);
ScalarOp combine_op(Combine combine);  // the scalar op of an accumulating combine; not for `set`

}  // namespace inlay
