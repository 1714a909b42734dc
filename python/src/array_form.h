#pragma once
// What a caller gives, or a host function returns, as the row-major array that compiled code reads.
#include <memory>
#include <string>

#include "numpy_api.h"
#include "support/error.h"

namespace inlay::python {

struct DropReference {
  void operator()(PyArrayObject* array) const { Py_DECREF(reinterpret_cast<PyObject*>(array)); }
};
using OwnedArray = std::unique_ptr<PyArrayObject, DropReference>;

/// "a str", "an object": what it is, for a message.
std::string kind_of(PyObject* object);
/// "f64": inlay's name of the array's dtype, NumPy's where inlay has none.
std::string dtype_text(PyArrayObject* array);

/// Is it one of NumPy's masked arrays, which are ndarrays whose elements count only where the mask says so?
bool is_masked(PyObject* array);

/// `object` as numpy.asarray has it, except that a Python number becomes a number of `dtype` where it loses nothing: 3
/// for f64 and for i8, not 1.5 for i64, nor 300 for i8; a float is rounded to a narrower one. What has no
/// `__array__`, or one that fails, and gives its bytes by DLPack is an array on these (dlpack.h). The dtype of anything
/// else is left to the caller to judge. `name` begins what errors say. Null: a Python error is set.
///
/// Errors: wrong-dtype: of a number that does not fit, of what is no array (None, a str, a sparse or masked array), and
/// of an array on another device.
OwnedArray as_array(PyObject* object, DType dtype, const std::string& name, const Location& location = {});

/// A new reference to `array`, of `dtype`: itself where compiled code can read it, else a copy that it can. Null: a
/// Python error is set.
OwnedArray in_plain_form(PyArrayObject* array, DType dtype);

}  // namespace inlay::python
