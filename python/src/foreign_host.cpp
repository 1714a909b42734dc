#include "foreign_host.h"

#include "gil.h"
#include "support/str.h"

namespace inlay::python {
namespace {

std::string text_of(PyObject* exception) {
  const auto name = type_name(Py_TYPE(exception));
  PyObject* said = PyObject_Str(exception);
  const char* text = said == nullptr ? nullptr : utf8_of(said);
  const std::string whole = text == nullptr || *text == '\0' ? name : str(name, ": ", text);
  PyErr_Clear();
  Py_XDECREF(said);
  return whole;
}

}  // namespace

std::string report(PyObject* on_error) {
  PyObject *type, *exception, *trace;
  PyErr_Fetch(&type, &exception, &trace);
  PyErr_NormalizeException(&type, &exception, &trace);
  if (trace != nullptr) PyException_SetTraceback(exception, trace);
  const std::string text = text_of(exception);
  if (on_error != nullptr) {
    PyObject* result = PyObject_CallFunctionObjArgs(on_error, exception, nullptr);
    if (result == nullptr) PyErr_WriteUnraisable(on_error);
    Py_XDECREF(result);
  }
  Py_XDECREF(type);
  Py_XDECREF(exception);
  Py_XDECREF(trace);
  return text;
}

int32_t ForeignHost::host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                               int64_t* result_dims) {
  const int32_t code = call_.host_call(function, operands, operand_dims, results, result_dims);
  if (code == INLAY_OK) return code;
  const ForeignGil gil;
  if (!gil) return code;
  call_.restore_exception();
  why_failed_ = report(on_error_);
  return code;
}

}  // namespace inlay::python
