#pragma once
// Python's C interface as the stable ABI has it (3.12 and later): no macro that looks into a tuple, a list or a type.
// Everything here is written against it, also what is built for one version, so that both builds are one source.
#include <cstddef>
#include <string>

#include <Python.h>

namespace inlay::python {

inline std::size_t tuple_size(PyObject* tuple) { return static_cast<std::size_t>(PyTuple_Size(tuple)); }
/// Borrowed.
inline PyObject* tuple_item(PyObject* tuple, std::size_t i) {
  return PyTuple_GetItem(tuple, static_cast<Py_ssize_t>(i));
}
/// Of a tuple that nobody else has yet; takes the reference.
inline void set_tuple_item(PyObject* tuple, std::size_t i, PyObject* item) {
  PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), item);
}

/// What a str holds, for as long as it lives; null: a Python error is set.
inline const char* utf8_of(PyObject* text) { return PyUnicode_AsUTF8AndSize(text, nullptr); }

/// "list", "numpy.ndarray", "DataFrame": a class by its name, one that was not made by a class statement by its module
/// too.
std::string type_name(PyTypeObject* type);

/// Of any number. A Python error is set where it is none.
struct ComplexParts {
  double real = 0, imag = 0;
};
ComplexParts complex_parts(PyObject* number);

}  // namespace inlay::python
