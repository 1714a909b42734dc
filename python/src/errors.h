#pragma once
// inlay's errors as Python exceptions.
//
// Each ErrorCode has its own exception class, made by inlay/errors.py: a subclass of InlayError and of the class that a
// NumPy user expects. The module is given these classes once, when the package is imported.
#include "python_api.h"
#include "support/error.h"

namespace inlay::python {

/// Classes by ErrorCode; takes a reference to each.
void set_error_classes(PyObject* tuple_of_classes);

/// Sets the Python error that stands for `error`.
void raise(const Error& error);

}  // namespace inlay::python
