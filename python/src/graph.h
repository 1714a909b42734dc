#pragma once
// What Python sees of ir: Dim, Value, GraphBuilder, Graph.
#include <memory>

#include <nanobind/nanobind.h>

#include "ir/builder.h"

namespace inlay::python {

/// A value of a graph that is being built.
struct Value {
  std::shared_ptr<GraphBuilder> builder;
  ValueId id;
};

void bind_graph(nanobind::module_& module);

}  // namespace inlay::python
