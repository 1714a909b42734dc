#pragma once
#include <nanobind/nanobind.h>

namespace inlay::python {

void bind_onnx(nanobind::module_& m);

}  // namespace inlay::python
