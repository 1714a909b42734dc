#include "array_form.h"

#include <cmath>
#include <utility>

#include "dlpack.h"

namespace inlay::python {
namespace {

using Owned = std::unique_ptr<PyObject, decltype([](PyObject* o) { Py_DECREF(o); })>;

OwnedArray owned(PyObject* array) { return OwnedArray(reinterpret_cast<PyArrayObject*>(array)); }

/// str(object), for a message.
std::string text_of(PyObject* object) {
  const Owned text(PyObject_Str(object));
  const char* utf8 = text ? utf8_of(text.get()) : nullptr;
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 == nullptr ? kind_of(object) : utf8;
}

/// Can every number of the Python type be asked for as one of `dtype`, if it is not too large? A scalar of NumPy's has
/// a dtype of its own, as an array has: some of its types are among those of Python's float and complex.
bool takes_number(DType dtype, PyObject* number) {
  if (PyArray_IsScalar(number, Generic)) return false;
  if (dtype == DType::bf16 || dtype == DType::opaque) return false;
  if (PyBool_Check(number)) return true;
  if (PyLong_Check(number)) return dtype != DType::boolean;
  if (PyFloat_Check(number)) return is_float(dtype) || is_complex(dtype);
  return PyComplex_Check(number) && is_complex(dtype);
}

/// Is the number finite, but none of the dtype's is near it?
bool overflows(DType dtype, PyObject* number) {
  const auto too_large = [&](double part) {
    if (!std::isfinite(part)) return false;
    if (dtype == DType::f16) return std::abs(part) >= 65520;
    return (dtype == DType::f32 || dtype == DType::c64) && !std::isfinite(static_cast<float>(part));
  };
  const ComplexParts c = complex_parts(number);
  return PyErr_Occurred() != nullptr || too_large(c.real) || too_large(c.imag);
}

/// `number` as a 0-d array of `dtype`; null: it does not fit.
OwnedArray number_as(DType dtype, PyObject* number) {
  if ((is_float(dtype) || is_complex(dtype)) && overflows(dtype, number)) {
    PyErr_Clear();
    return nullptr;
  }
  OwnedArray array = owned(PyArray_FromAny(number, PyArray_DescrFromType(numpy_type(dtype)), 0, 0,
                                           NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST, nullptr));
  const Owned back(array ? PyArray_GETITEM(array.get(), PyArray_BYTES(array.get())) : nullptr);
  bool fits = back != nullptr;
  if (fits && PyLong_Check(number)) fits = PyObject_RichCompareBool(back.get(), number, Py_EQ) == 1;
  PyErr_Clear();
  return fits ? std::move(array) : nullptr;
}

bool has_numbers(PyArrayObject* array) { return PyArray_ISNUMBER(array) || PyArray_ISBOOL(array); }

/// NumPy's own ValueError or TypeError about an object (a ragged list), which does not know what the object is to us.
void name_error(const std::string& name) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (type == PyExc_ValueError || type == PyExc_TypeError) {
    PyErr_Format(type, "%s: %S", name.c_str(), value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  } else {
    PyErr_Restore(type, value, trace);
  }
}

}  // namespace

std::string kind_of(PyObject* object) {
  const std::string name = type_name(Py_TYPE(object));
  return str(std::string_view("aeiou").find(name[0]) == std::string_view::npos ? "a " : "an ", name);
}

std::string dtype_text(PyArrayObject* array) {
  if (const auto dtype = dtype_from_numpy(PyArray_TYPE(array))) return std::string(dtype_name(*dtype));
  if (is_bfloat16(array)) return std::string(dtype_name(DType::bf16));
  std::string name = type_name(PyArray_DESCR(array)->typeobj);  // "numpy.str_"
  name.erase(0, name.rfind('.') + 1);
  if (name.ends_with('_')) name.pop_back();
  return name;
}

bool is_masked(PyObject* array) {
  if (Py_TYPE(array) == &PyArray_Type) return false;
  const Owned name(PyUnicode_InternFromString("numpy.ma"));
  const Owned module(name ? PyImport_GetModule(name.get()) : nullptr);
  const Owned type(module ? PyObject_GetAttrString(module.get(), "MaskedArray") : nullptr);
  const bool masked = type && PyObject_IsInstance(array, type.get()) == 1;
  PyErr_Clear();
  return masked;
}

OwnedArray as_array(PyObject* object, DType dtype, const std::string& name, const Location& location) {
  const auto instead = [&](const std::string& what) {
    return Error(ErrorCode::wrong_dtype, location, str(name, ": ", what, " where ", dtype_name(dtype), " is expected"));
  };
  if (PyArray_Check(object)) {
    if (is_masked(object)) throw instead("a masked array").help("give `a.filled(value)`, or `a.data`");
    return owned(Py_NewRef(object));
  }
  if (takes_number(dtype, object)) {
    if (OwnedArray array = number_as(dtype, object)) return array;
    throw Error(ErrorCode::wrong_dtype, location,
                str(name, ": ", text_of(object), " does not fit ", dtype_name(dtype)));
  }
  // `__array__` is asked first: with JAX it takes a quarter of the time, and both give the same bytes.
  const bool has_dlpack = gives_dlpack(object);
  OwnedArray array;
  if (!has_dlpack || class_has(object, "__array__")) array = owned(PyArray_FROM_O(object));
  if (!array && has_dlpack && (PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_Exception) != 0)) {
    PyErr_Clear();  // of a tensor on a GPU, say: DLPack names the device
    return from_dlpack(object, dtype, name, location);
  }
  if (!array) {
    name_error(name);
  } else if (!has_numbers(array.get()) && !is_bfloat16(array.get())) {
    throw instead(object == Py_None ? "None" : kind_of(object));
  }
  return array;
}

OwnedArray in_plain_form(PyArrayObject* array, DType dtype) {
  if (PyArray_TYPE(array) == numpy_type(dtype) && is_plain(array)) {
    return owned(Py_NewRef(reinterpret_cast<PyObject*>(array)));
  }
  if (is_bfloat16(array)) {  // which is no number of u16 to NumPy
    return owned(is_plain(array) ? Py_NewRef(reinterpret_cast<PyObject*>(array)) : PyArray_NewCopy(array, NPY_CORDER));
  }
  constexpr int kReadable = NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST;
  return owned(PyArray_FromArray(array, PyArray_DescrFromType(numpy_type(dtype)), kReadable));
}

}  // namespace inlay::python
