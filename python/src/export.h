#pragma once
// `export`: programs as C, objects and shared libraries.
#include <nanobind/nanobind.h>

namespace inlay::python {

void bind_export(nanobind::module_& m);

}  // namespace inlay::python
