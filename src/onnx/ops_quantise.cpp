// Numbers as small integers with a scale and a zero point, and products of them.
#include "ir/linalg.h"
#include "onnx/importer.h"
#include "onnx/ops.h"
#include "onnx/quantised.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

/// The dtype of products of integers and a scale: half precision has few of them, and none beyond 65504.
DType with_integers(DType scale) { return promote(scale, DType::f32); }

void quantise(Call& c) {
  const ValueId x = c.in(0), given = c.in(1);
  std::optional<ValueId> zero = c.maybe(2);
  const DType dtype = zero ? c.type(*zero).dtype : c.dtype_attribute("output_dtype").value_or(DType::u8);
  const DType own = c.type(given).dtype;
  const DType computed = c.dtype_attribute("precision").value_or(is_integer(c.dtype(0)) ? with_integers(own) : own);
  const ValueId scale = beside(c, c.b.cast(given, computed), x);
  if (zero) zero = beside(c, *zero, x);
  c.out(saturated(c, c.scalar(Op::div_, {c.b.cast(x, computed), scale}), zero, dtype));
}

void dequantise(Call& c) {
  const ValueId x = c.in(0), given = c.in(1);
  const DType dtype = c.dtype_attribute("output_dtype").value_or(c.type(given).dtype);
  std::optional<ValueId> zero = c.maybe(2);
  if (zero) zero = beside(c, *zero, x);
  const DType computed = with_integers(c.type(given).dtype);
  const ValueId scale = beside(c, c.b.cast(given, computed), x);
  if (is_float(c.dtype(0)) && c.importer.is_narrow(c.node.inputs[0], c.scope)) {  // float8
    const ValueId number = c.b.cast(x, computed);
    const ValueId moved = zero ? c.scalar(Op::sub_, {number, c.b.cast(*zero, computed)}) : number;
    return c.out(c.b.cast(c.scalar(Op::mul_, {moved, scale}), dtype));
  }
  if (!is_integer(c.dtype(0))) throw c.wrong(str("of ", c.b.graph().describe(x), ", which is to be of integers"));
  const ValueId y = c.scalar(Op::mul_, {c.b.cast(difference(c, x, zero), computed), scale});
  if (computed == DType::f32) c.scope.frame.dequantised[y] = {x, zero, scale};
  c.out(c.b.cast(y, dtype));
}

void dynamically_quantise(Call& c) {
  const Quantised quantised = dynamically_quantised(c, c.in(0));
  c.out(0, quantised.x);
  c.out(1, quantised.scale);
  c.out(2, quantised.zero);
}

/// One of the left matrix: a vector has one for each row.
ValueId of_rows(Call& c, ValueId scale, ValueId matrix) {
  const std::vector<Dim> dims = c.type(scale).dims;
  if (dims.size() != 1 || dims[0].is(1) || c.type(matrix).rank() < 2) return of_columns(c, scale);
  return c.b.reshape(scale, {dims[0], 1});
}

/// A vector on the left is one row until the end: what belongs to columns may have an axis for it.
ValueId as_matrix(Call& c, ValueId left) {
  const std::vector<Dim> dims = c.type(left).dims;
  return dims.size() == 1 ? c.b.reshape(left, {Dim(1), dims[0]}) : left;
}
/// What was made of it has no such axis if input 0, the left one, has none.
ValueId as_left(Call& c, ValueId y) {
  if (c.rank(0) != 1) return y;
  std::vector<Dim> dims = c.type(y).dims;
  if (dims.size() > 1) dims.erase(dims.end() - 2);
  return c.b.reshape(y, std::move(dims));
}

/// Input 0 times input 1, which are integers; their zero points, where there are any, are inputs i and i + 1.
ValueId integer_sums(Call& c, std::size_t i) {
  std::optional<ValueId> left_zero = c.maybe(i), right_zero = c.maybe(i + 1);
  if (left_zero) left_zero = of_rows(c, *left_zero, c.in(0));
  if (right_zero) right_zero = of_columns(c, *right_zero);
  return integer_matmul(c, {as_matrix(c, c.in(0)), left_zero}, {c.in(1), right_zero});
}

void matmul_integer(Call& c) { c.out(as_left(c, integer_sums(c, 2))); }

void quantised_matmul(Call& c) {
  const ValueId left = c.in(0);
  const Integers rows = {as_matrix(c, left), of_rows(c, c.in(2), left)};
  const ValueId sums = integer_matmul(c, rows, {c.in(3), of_columns(c, c.in(5))});
  const auto scale = [&](ValueId v) { return c.b.cast(v, DType::f32); };
  const ValueId scales = c.scalar(Op::mul_, {scale(of_rows(c, c.in(1), left)), scale(of_columns(c, c.in(4)))});
  const ValueId factor = c.scalar(Op::div_, {scales, scale(of_columns(c, c.in(6)))});
  const ValueId zero = c.in(7), scaled = c.scalar(Op::mul_, {c.b.cast(sums, DType::f32), factor});
  c.out(as_left(c, saturated(c, scaled, of_columns(c, zero), c.type(zero).dtype)));
}

// The ops of onnxruntime's quantiser: one of ONNX's between numbers that are quantised, rounded as ONNX says it. Its
// own kernels have shorter ways for some, and give the number beside it where a quotient is about halfway between two.

/// Input i, one number for all elements, where it is given.
std::optional<ValueId> one_number_if(Call& c, std::size_t i) {
  const std::optional<ValueId> number = c.maybe(i);
  return number ? std::optional(c.b.reshape(*number, {})) : std::nullopt;
}

/// Inputs i to i + 2, which are integers, their scale and their zero point, as f32.
ValueId number_of(Call& c, std::size_t i) {
  const ValueId scale = c.b.reshape(c.in(i + 1), {}), x = difference(c, c.in(i), one_number_if(c, i + 2));
  return c.scalar(Op::mul_, {c.b.cast(x, c.type(scale).dtype), scale});
}

/// The result as integers of `dtype`, by the scale and the zero point that inputs i and i + 1 are.
void out_quantised(Call& c, ValueId y, std::size_t i, DType dtype) {
  c.out(saturated(c, c.scalar(Op::div_, {y, c.b.reshape(c.in(i), {})}), one_number_if(c, i + 1), dtype));
}

/// An op of ONNX, as `version` of the operator set has it, of f32s.
struct Inner {
  std::string_view op;
  int64_t version;
};

void quantised(Call& c, const Inner& inner, std::vector<ValueId> operands, std::size_t result, DType dtype) {
  if (c.flag("channels_last")) throw c.unsupported("channels behind the other axes (channels_last)");
  Node node{.name = c.node.name, .op = std::string(inner.op), .attributes = c.node.attributes};
  out_quantised(c, applied(c.importer, c.scope, std::move(node), operands, inner.version), result, dtype);
}

void quantised_unary(Call& c, const Inner& inner) { quantised(c, inner, {number_of(c, 0)}, 3, c.dtype(0)); }

void quantised_binary(Call& c, const Inner& inner) {
  quantised(c, inner, {number_of(c, 0), number_of(c, 3)}, 6, c.dtype(0));
}

void quantised_add(Call& c) { quantised_binary(c, {"Add", 14}); }
void quantised_average_pool(Call& c) { quantised_unary(c, {"AveragePool", 19}); }
void quantised_global_average_pool(Call& c) { quantised_unary(c, {"GlobalAveragePool", 1}); }
void quantised_leaky_relu(Call& c) { quantised_unary(c, {"LeakyRelu", 16}); }
void quantised_mul(Call& c) { quantised_binary(c, {"Mul", 14}); }
void quantised_sigmoid(Call& c) { quantised_unary(c, {"Sigmoid", 13}); }
void quantised_softmax(Call& c) { quantised_unary(c, {"Softmax", c.integer("opset")}); }

void quantised_where(Call& c) {
  quantised(c, {"Where", 16}, {c.in(0), number_of(c, 1), number_of(c, 4)}, 7, c.dtype(1));
}

void quantised_concat(Call& c) {
  std::vector<ValueId> operands;
  for (std::size_t i = 2; i < c.node.inputs.size(); i += 3) operands.push_back(number_of(c, i));
  quantised(c, {"Concat", 13}, operands, 0, c.dtype(1));
}

/// alpha * a @ b + bias, where the bias is of the scale of the product: of integers, or in f32 where no scale of the
/// result is given.
void quantised_gemm(Call& c) {
  const auto matrix = [&](std::size_t i, std::string_view transposed) {
    if (c.rank(i) != 2) throw c.wrong(str("input ", i, " is ", c.b.graph().describe(c.in(i)), ", which is no matrix"));
    return c.flag(transposed) ? linalg::swapped(c.b, c.in(i)) : c.in(i);
  };
  const auto column = [&](std::size_t i) { return of_columns(c, c.in(i)); };
  ValueId sums = integer_matmul(c, {matrix(0, "transA"), c.b.reshape(c.in(2), {})}, {matrix(3, "transB"), column(5)});
  if (const auto bias = c.maybe(6)) {
    const std::vector<Dim> dims = c.type(sums).dims;
    sums = c.scalar(Op::add_, {sums, stretched(c.scope.frame, *bias, dims, 0, c.node.op)});
  }
  const ValueId scales = c.scalar(Op::mul_, {c.b.reshape(c.in(1), {}), column(4)});
  const double alpha = c.number("alpha", 1);
  const ValueId scale = alpha == 1 ? scales : c.with(Op::mul_, scales, alpha);
  const ValueId wide = c.b.cast(sums, DType::f32);
  if (!c.has(7)) return c.out(c.scalar(Op::mul_, {wide, scale}));
  const ValueId factor = c.scalar(Op::div_, {scale, c.b.reshape(c.in(7), {})});
  const std::optional<ValueId> zero = one_number_if(c, 8);
  c.out(saturated(c, c.scalar(Op::mul_, {wide, factor}), zero, zero ? c.type(*zero).dtype : DType::u8));
}

void dynamically_quantised_matmul(Call& c) {
  std::optional<ValueId> zero = c.maybe(3);
  if (zero) zero = of_columns(c, *zero);
  const ValueId y = dynamically_quantised_product(c, c.in(0), {c.in(1), zero}, of_columns(c, c.in(2)));
  c.out(c.has(4) ? c.scalar(Op::add_, {y, c.in(4)}) : y);
}

void integer_matmul_to_float(Call& c) {
  const ValueId sums = integer_sums(c, 4);
  const ValueId y = as_floats(c, sums, of_rows(c, c.in(2), c.in(0)), of_columns(c, c.in(3)));
  c.out(as_left(c, c.has(6) ? c.scalar(Op::add_, {y, c.in(6)}) : y));
}

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr OpRow kOps[] = {
    {.name = "DequantizeLinear", .make = dequantise, .takes_narrow = true},
    {.name = "DequantizeLinear", .make = dequantise, .domain = kMicrosoft, .takes_narrow = true},
    {.name = "DynamicQuantizeMatMul", .make = dynamically_quantised_matmul, .domain = kMicrosoft},
    {"DynamicQuantizeLinear", dynamically_quantise},
    {"MatMulInteger", matmul_integer},
    {.name = "MatMulIntegerToFloat", .make = integer_matmul_to_float, .domain = kMicrosoft},
    {.name = "QGemm", .make = quantised_gemm, .domain = kMicrosoft},
    {.name = "QLinearAdd", .make = quantised_add, .domain = kMicrosoft},
    {.name = "QLinearAveragePool", .make = quantised_average_pool, .domain = kMicrosoft},
    {.name = "QLinearConcat", .make = quantised_concat, .domain = kMicrosoft},
    {.name = "QLinearGlobalAveragePool", .make = quantised_global_average_pool, .domain = kMicrosoft},
    {.name = "QLinearLeakyRelu", .make = quantised_leaky_relu, .domain = kMicrosoft},
    {"QLinearMatMul", quantised_matmul},
    {.name = "QLinearMul", .make = quantised_mul, .domain = kMicrosoft},
    {.name = "QLinearSigmoid", .make = quantised_sigmoid, .domain = kMicrosoft},
    {.name = "QLinearSoftmax", .make = quantised_softmax, .domain = kMicrosoft},
    {.name = "QLinearWhere", .make = quantised_where, .domain = kMicrosoft},
    {"QuantizeLinear", quantise},
    {.name = "QuantizeLinear", .make = quantise, .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> quantise_ops() { return kOps; }

}  // namespace inlay::onnx
