#pragma once
// The builder's calls for library ops, and for the linear algebra made of them.
#include "graph.h"

namespace inlay::python {

void bind_linalg(nanobind::class_<GraphBuilder>& builder);

}  // namespace inlay::python
