#include <algorithm>
#include <array>

#include "onnx/model.h"
#include "support/error.h"
#include "support/str.h"

namespace inlay::onnx {
namespace {

struct Row {
  const char* name;
  std::optional<DType> dtype;
};

// By TensorProto.DataType.
const std::array<Row, 29> kTypes = {{
    {"undefined", {}},
    {"float32", DType::f32},
    {"uint8", DType::u8},
    {"int8", DType::i8},
    {"uint16", DType::u16},
    {"int16", DType::i16},
    {"int32", DType::i32},
    {"int64", DType::i64},
    {"string", {}},
    {"bool", DType::boolean},
    {"float16", DType::f16},
    {"float64", DType::f64},
    {"uint32", DType::u32},
    {"uint64", DType::u64},
    {"complex64", DType::c64},
    {"complex128", DType::c128},
    {"bfloat16", DType::bf16},
    {"float8e4m3fn", {}},
    {"float8e4m3fnuz", {}},
    {"float8e5m2", {}},
    {"float8e5m2fnuz", {}},
    {"uint4", {}},
    {"int4", {}},
    {"float4e2m1", {}},
    {"float8e8m0", {}},
    {"uint2", {}},
    {"int2", {}},
    {"float6e2m3", {}},
    {"float6e3m2", {}},
}};

bool is_known(int64_t type) { return type >= 0 && type < static_cast<int64_t>(kTypes.size()); }

}  // namespace

std::optional<DType> dtype_of_type(int64_t type) {
  return is_known(type) ? kTypes[static_cast<std::size_t>(type)].dtype : std::nullopt;
}

int64_t type_of_dtype(DType dtype) {
  const auto* const found = std::ranges::find(kTypes, std::optional(dtype), &Row::dtype);
  if (found == kTypes.end()) throw Error(ErrorCode::wrong_dtype, {}, str("ONNX has no ", dtype_name(dtype)));
  return found - kTypes.begin();
}

std::string type_name(int64_t type) {
  return is_known(type) ? kTypes[static_cast<std::size_t>(type)].name : str("type number ", type);
}

Bytes kept(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {owner, {owner->data(), owner->size()}};
}

std::vector<Literal> literals_of(const Tensor& tensor, DType dtype) {
  std::vector<Literal> out;
  const auto size = static_cast<std::size_t>(size_bytes(dtype));
  for (std::size_t i = 0; i + size <= tensor.data.bytes.size(); i += size) {
    alignas(16) std::byte element[16];
    std::copy_n(tensor.data.bytes.data() + i, size, element);
    if (dtype == DType::boolean) element[0] = element[0] != std::byte{0} ? std::byte{1} : std::byte{0};
    out.push_back(Literal::load(dtype, element));
  }
  return out;
}

int64_t Tensor::num_elements() const {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;  // read_model has checked that it fits
  return product;
}

}  // namespace inlay::onnx
