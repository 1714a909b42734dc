#pragma once
// The host functions that a program in text form can call by name: a door would bring its own.
//
//   copy      its operands
//   positive  the elements of an f64[n] that are above 0: a result whose size is known only then
//   fail      nothing: it fails
#include <vector>

#include "ir/graph.h"
#include "kernel/kernel.h"
#include "oracle/reference/evaluate.h"

namespace inlay::tool {

/// By Node::host_function. A name that is not above gives an empty function, which fails when it is called.
std::vector<reference::HostFunction> host_functions_of(const Graph& graph);
std::vector<reference::HostFunction> host_functions_of(const kernel::KernelProgram& program);

}  // namespace inlay::tool
