#pragma once
// What this build is and what it found here.
#include <nanobind/nanobind.h>

namespace inlay::python {

void bind_config(nanobind::module_& module);

}  // namespace inlay::python
