#pragma once
// Arrays of other libraries (PyTorch, JAX, CuPy) by DLPack, the form in which such libraries give each other arrays.
#include <string>

#include "array_form.h"

namespace inlay::python {

/// Has the object's class such an attribute? (An object by itself may pretend to have any.)
bool class_has(PyObject* object, const char* name);
/// Does the object's class have the methods of DLPack?
bool gives_dlpack(PyObject* object);

/// Such an `object` as an array of NumPy on its own bytes, which keeps them alive: read-only where its library says so,
/// or does not know. Null: a Python error is set.
///
/// Errors: wrong-dtype: where `dtype` is expected, `name` lies in the memory of another device, or has a dtype that
/// inlay has not, or its library gives it in no way, and says why.
OwnedArray from_dlpack(PyObject* object, DType dtype, const std::string& name, const Location& location);

}  // namespace inlay::python
