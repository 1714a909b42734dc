#include "errors.h"

#include <vector>

namespace inlay::python {
namespace {

std::vector<PyObject*>& classes() {
  static std::vector<PyObject*> by_code;
  return by_code;
}

}  // namespace

void set_error_classes(PyObject* tuple_of_classes) {
  for (std::size_t i = 0; i < tuple_size(tuple_of_classes); ++i) {
    PyObject* type = tuple_item(tuple_of_classes, i);
    Py_INCREF(type);
    classes().push_back(type);
  }
}

void raise(const Error& error) {
  const auto code = static_cast<std::size_t>(error.code());
  PyObject* type = code < classes().size() ? classes()[code] : PyExc_RuntimeError;
  // Names that a file has may be no UTF-8: their bytes are shown.
  const std::string_view text(error.what());
  PyObject* message = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (!message) return;
  PyErr_SetObject(type, message);
  Py_DECREF(message);
  if (error.diagnostic().location.empty()) return;
  // The location also as a plain attribute, for doors that know the user's nodes by it.
  PyObject *exception_type, *value, *trace;
  PyErr_Fetch(&exception_type, &value, &trace);
  PyErr_NormalizeException(&exception_type, &value, &trace);
  PyObject* location = PyUnicode_FromString(error.diagnostic().location.text.c_str());
  if (location == nullptr || PyObject_SetAttrString(value, "location", location) < 0) PyErr_Clear();
  Py_XDECREF(location);
  PyErr_Restore(exception_type, value, trace);
}

}  // namespace inlay::python
