#pragma once
// How many threads a caller of Python asks for.
#include "python_api.h"

namespace inlay::python {

/// Into `count`, as far as runtime::kMostThreads. False: a TypeError is set for what is no int, a ValueError for less
/// than 1. `what` takes the number: "threads=".
bool read_thread_count(const char* what, PyObject* value, int& count);

/// The same, and throws.
int thread_count(const char* what, PyObject* value);

}  // namespace inlay::python
