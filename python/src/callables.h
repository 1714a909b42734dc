#pragma once
// The two ways in which Python calls a bound program, both by vectorcall: from arguments, and from the cells that a
// PyTensor Function fills.
//
// They are plain CPython types, not nanobind classes: what a call costs beside the work itself is then the check of
// each argument and the making of each result.
#include "bound_program.h"
#include "python_api.h"

namespace inlay::python {

/// Adds the types Function and Vm to the module; false: a Python error is set.
bool add_callables(PyObject* module);

/// fn(*arrays) -> array or tuple of arrays. A new reference.
PyObject* new_function(const HeldProgram& program);

/// vm() -> list of arrays, from `cells`: a tuple of lists, the first item of each is the argument. A new reference.
PyObject* new_vm(const HeldProgram& program, PyObject* cells);

}  // namespace inlay::python
