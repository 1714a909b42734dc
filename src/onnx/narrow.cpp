#include "onnx/narrow.h"

#include <cmath>
#include <limits>

#include "ops/literal.h"
#include "support/error.h"
#include "support/exact.h"

namespace inlay::onnx {
namespace {

/// How an element is packed. A float is (-1)^sign * 2^(exponent - bias) * 1.mantissa, and where the exponent is 0
/// (-1)^sign * 2^(1 - bias) * 0.mantissa. Source: ONNX's float8 and float4 pages, and the OCP's Microscaling Formats.
struct Packing {
  /// What is no finite number: as IEEE has it (inf, nan); all bits but the sign (nan); the sign alone (nan); nothing.
  enum class Special : uint8_t { ieee, all_ones, sign_alone, none };
  int64_t type;  // TensorProto.DataType
  DType wide;
  int bits;
  int exponent_bits = 0, bias = 0;
  Special special = Special::none;
};

using Special = Packing::Special;
constexpr Packing kPackings[] = {
    {17, DType::f16, 8, 4, 7, Special::all_ones},     // float8e4m3fn
    {18, DType::f16, 8, 4, 8, Special::sign_alone},   // float8e4m3fnuz
    {19, DType::f16, 8, 5, 15, Special::ieee},        // float8e5m2
    {20, DType::f16, 8, 5, 16, Special::sign_alone},  // float8e5m2fnuz
    {21, DType::u8, 4},                               // uint4
    {22, DType::i8, 4},                               // int4
    {23, DType::f16, 4, 2, 1},                        // float4e2m1
    {24, DType::f32, 8, 8, 127, Special::all_ones},   // float8e8m0: powers of 2, without a sign
    {25, DType::u8, 2},                               // uint2
    {26, DType::i8, 2},                               // int2
};

const Packing* packing_of(int64_t type) {
  for (const Packing& packing : kPackings) {
    if (packing.type == type) return &packing;
  }
  return nullptr;
}

int64_t integer_of(const Packing& packing, unsigned bits) {
  const bool is_negative = packing.wide == DType::i8 && (bits >> (packing.bits - 1)) != 0;
  return static_cast<int64_t>(bits) - (is_negative ? int64_t{1} << packing.bits : 0);
}

double float_of(const Packing& packing, unsigned bits) {
  const bool has_sign = packing.exponent_bits < packing.bits;
  const int mantissa_bits = packing.bits - packing.exponent_bits - (has_sign ? 1 : 0);
  const unsigned sign_bit = has_sign ? 1U << (packing.bits - 1) : 0, rest = bits & ~sign_bit;
  const unsigned exponent = rest >> mantissa_bits, mantissa = rest & ((1U << mantissa_bits) - 1);
  const unsigned largest_exponent = (1U << packing.exponent_bits) - 1,
                 all_ones = (largest_exponent << mantissa_bits) | ((1U << mantissa_bits) - 1);
  const double sign = (bits & sign_bit) != 0 ? -1 : 1;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  switch (packing.special) {
    case Special::ieee:
      if (exponent == largest_exponent) return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : kNan;
      break;
    case Special::all_ones:
      if (rest == all_ones) return kNan;
      break;
    case Special::sign_alone:
      if (bits == sign_bit) return kNan;
      break;
    case Special::none: break;
  }
  const bool is_below = exponent == 0 && has_sign;
  const double fraction = std::ldexp(mantissa, -mantissa_bits) + (is_below ? 0 : 1);
  return sign * std::ldexp(fraction, (is_below ? 1 : static_cast<int>(exponent)) - packing.bias);
}

}  // namespace

std::optional<DType> wide_dtype(int64_t type) {
  const Packing* packing = packing_of(type);
  return packing ? std::optional(packing->wide) : std::nullopt;
}

std::optional<int64_t> bytes_of(int64_t type, int64_t num_elements) {
  if (const std::optional<DType> dtype = dtype_of_type(type)) return exact::multiply(num_elements, size_bytes(*dtype));
  const Packing* packing = packing_of(type);
  if (!packing) return std::nullopt;
  const int64_t in_byte = 8 / packing->bits;
  return num_elements / in_byte + (num_elements % in_byte != 0);
}

Tensor widened(const Tensor& tensor) {
  const Packing& packing = *packing_of(tensor.type);
  const auto count = static_cast<std::size_t>(tensor.num_elements());
  const auto in_byte = static_cast<std::size_t>(8 / packing.bits);
  const std::span<const std::byte> packed = tensor.data.bytes;
  INLAY_CHECK(bytes_of(tensor.type, tensor.num_elements()) == static_cast<int64_t>(packed.size()),
              "the size of the tensor ", tensor.name, " was not checked when it was read");
  const auto size = static_cast<std::size_t>(size_bytes(packing.wide));
  std::vector<std::byte> wide(count * size);
  for (std::size_t i = 0; i < count; ++i) {  // the first element of a byte is in its lowest bits
    const auto byte = std::to_integer<unsigned>(packed[i / in_byte]);
    const unsigned bits = (byte >> (i % in_byte * static_cast<std::size_t>(packing.bits))) & ((1U << packing.bits) - 1);
    const Literal element = packing.exponent_bits == 0 ? Literal::of_integer(packing.wide, integer_of(packing, bits))
                                                       : Literal::of_float(packing.wide, float_of(packing, bits));
    element.store(wide.data() + i * size);
  }
  return {tensor.name, type_of_dtype(packing.wide), tensor.dims, kept(std::move(wide))};
}

}  // namespace inlay::onnx
