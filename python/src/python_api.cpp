#include "python_api.h"

namespace inlay::python {
namespace {

/// The str that is an attribute of the type, or "".
std::string text_attribute(PyTypeObject* type, const char* name) {
  PyObject* value = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), name);
  const char* utf8 = value != nullptr && PyUnicode_Check(value) ? utf8_of(value) : nullptr;
  const std::string text = utf8 == nullptr ? "" : utf8;
  PyErr_Clear();
  Py_XDECREF(value);
  return text;
}

}  // namespace

std::string type_name(PyTypeObject* type) {
  const std::string name = text_attribute(type, "__name__");
  if ((PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) != 0) return name;
  const std::string module = text_attribute(type, "__module__");
  return module.empty() || module == "builtins" ? name : module + "." + name;
}

ComplexParts complex_parts(PyObject* number) {
  if (PyComplex_Check(number)) return {PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)};
  // A str is no number, though complex() reads one.
  if (PyFloat_Check(number) || PyLong_Check(number) || PyUnicode_Check(number)) return {PyFloat_AsDouble(number), 0};
  // What has a __complex__, such as NumPy's numbers.
  PyObject* as_complex = PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyComplex_Type), number, nullptr);
  if (as_complex == nullptr) return {-1, 0};
  const ComplexParts parts = {PyComplex_RealAsDouble(as_complex), PyComplex_ImagAsDouble(as_complex)};
  Py_DECREF(as_complex);
  return parts;
}

}  // namespace inlay::python
