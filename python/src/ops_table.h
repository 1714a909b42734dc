#pragma once
// The table of scalar ops, for what is generated from it and for tests that walk it.
#include <nanobind/nanobind.h>

namespace inlay::python {

void bind_ops_table(nanobind::module_& module);

}  // namespace inlay::python
