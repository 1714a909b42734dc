#pragma once
// What Python gets from compiling: the functions to call, and what is known about how they came about.
#include <nanobind/nanobind.h>

namespace inlay::python {

void bind_compile(nanobind::module_& module);

}  // namespace inlay::python
