#pragma once
// NumPy's C interface, imported once in module.cpp and shared by the files of this folder.
#include "python_api.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL inlay_numpy_api
#ifndef INLAY_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <optional>
#include <string_view>

#include <numpy/arrayobject.h>

#include "ops/dtype.h"

namespace inlay::python {

/// NPY_DOUBLE for f64, ...; NPY_OBJECT for opaque.
int numpy_type(DType dtype);
std::optional<DType> dtype_from_numpy(int numpy_type);  // none where inlay has none
DType dtype_of_numpy(int numpy_type);                   // throws Error(wrong_dtype) there
/// That of ml_dtypes.bfloat16, a new reference; null, without an error: the package is not installed. NumPy's own types
/// have none, and inlay takes and gives bf16 as u16, its bits, unless an array of this dtype is given.
PyArray_Descr* bfloat16_descr();
bool is_bfloat16(PyArrayObject* array);
/// Are its elements those of `dtype`? Of bf16 they may be bits.
bool has_dtype(PyArrayObject* array, DType dtype);
DType dtype_of(PyArrayObject* array);  // u16 of bits; throws Error(wrong_dtype) where inlay has none
/// "float64": for code that NumPy reads. An error says "f64" (dtype_text).
std::string_view numpy_name(DType dtype);

/// Row-major, aligned, in this machine's byte order: what compiled code reads.
inline bool is_plain(PyArrayObject* array) {
  constexpr int kPlain = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
  return (PyArray_FLAGS(array) & kPlain) == kPlain && PyArray_ISNOTSWAPPED(array);
}

}  // namespace inlay::python
