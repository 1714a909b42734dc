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

/// Throws Error(unknown-name) unless it is a value of the graph that is being built there.
ValueId id_of(const std::shared_ptr<GraphBuilder>& builder, const Value& value);

void bind_graph(nanobind::module_& module);

}  // namespace inlay::python
