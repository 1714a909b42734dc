#include "numpy_api.h"

#include <array>

#include "support/error.h"

namespace inlay::python {
namespace {

struct Row {
  DType dtype;
  int numpy;
  std::string_view name;
};

constexpr std::array<Row, 16> kRows = {{
    {DType::boolean, NPY_BOOL, "bool"},
    {DType::i8, NPY_INT8, "int8"},
    {DType::i16, NPY_INT16, "int16"},
    {DType::i32, NPY_INT32, "int32"},
    {DType::i64, NPY_INT64, "int64"},
    {DType::u8, NPY_UINT8, "uint8"},
    {DType::u16, NPY_UINT16, "uint16"},
    {DType::u32, NPY_UINT32, "uint32"},
    {DType::u64, NPY_UINT64, "uint64"},
    {DType::f16, NPY_HALF, "float16"},
    {DType::bf16, NPY_UINT16, "bfloat16"},  // NumPy has none: its bits
    {DType::f32, NPY_FLOAT, "float32"},
    {DType::f64, NPY_DOUBLE, "float64"},
    {DType::c64, NPY_CFLOAT, "complex64"},
    {DType::c128, NPY_CDOUBLE, "complex128"},
    {DType::opaque, NPY_OBJECT, "object"},
}};

}  // namespace

int numpy_type(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].numpy; }
std::string_view numpy_name(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].name; }

std::optional<DType> dtype_from_numpy(int type) {
  for (const Row& row : kRows) {
    if (row.dtype == DType::bf16 || row.dtype == DType::opaque) continue;
    if (row.numpy == type) return row.dtype;
    // `long long` is another type number of the same 64 bits.
    if (row.dtype == DType::i64 && type == NPY_LONGLONG) return row.dtype;
    if (row.dtype == DType::u64 && type == NPY_ULONGLONG) return row.dtype;
  }
  return std::nullopt;
}

DType dtype_of_numpy(int type) {
  if (const auto dtype = dtype_from_numpy(type)) return *dtype;
  throw Error(ErrorCode::wrong_dtype, {}, str("an array of NumPy's type number ", type, " has no dtype in inlay"));
}

}  // namespace inlay::python
