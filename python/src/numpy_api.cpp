#include "numpy_api.h"

#include <array>
#include <atomic>

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
    {DType::bf16, NPY_UINT16, "bfloat16"},  // NumPy has none: its bits (bfloat16_descr)
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

PyArray_Descr* bfloat16_descr() {
  PyObject* const module = PyImport_ImportModule("ml_dtypes");
  PyObject* const type = module == nullptr ? nullptr : PyObject_GetAttrString(module, "bfloat16");
  PyArray_Descr* descr = nullptr;
  if (type != nullptr && PyArray_DescrConverter(type, &descr) == NPY_FAIL) descr = nullptr;
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(module);
  return descr;
}

bool is_bfloat16(PyArrayObject* array) {
  static std::atomic<int> known = -1;  // the number that NumPy has given to the type, for as long as the process lives
  if (PyArray_TYPE(array) < NPY_USERDEF) return false;
  int number = known.load(std::memory_order_relaxed);
  if (number < 0) {
    PyArray_Descr* const descr = bfloat16_descr();
    if (descr == nullptr) return false;
    number = descr->type_num;
    known.store(number, std::memory_order_relaxed);
    Py_DECREF(reinterpret_cast<PyObject*>(descr));
  }
  return PyArray_TYPE(array) == number;
}

bool has_dtype(PyArrayObject* array, DType dtype) {
  return PyArray_EquivTypenums(PyArray_TYPE(array), numpy_type(dtype)) || (dtype == DType::bf16 && is_bfloat16(array));
}

DType dtype_of(PyArrayObject* array) { return is_bfloat16(array) ? DType::bf16 : dtype_of_numpy(PyArray_TYPE(array)); }

}  // namespace inlay::python
