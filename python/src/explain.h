#pragma once
// A compiled program as plain Python data, for `explain`.
#include <nanobind/nanobind.h>

#include "bound_program.h"
#include "compiler/compile.h"
#include "runtime/step_times.h"

namespace inlay::python {

/// Kernels, library and host calls, draws, copies, temporaries, refusals, the texts of graph, kernels and memory map,
/// seconds by stage. Sizes that are not constants are text.
nanobind::dict explain(const EmittedProgram& program, const BoundProgram& bound);

/// Why each storage is there: of the value that begins it; then of those that lie there too, by their names.
IdMap<memory::StorageId, std::string> storage_reasons(const EmittedProgram& program);

/// For each graph value that has a buffer, by name and by the location of its node: where it lies, and what it took
/// over.
nanobind::list value_places(const EmittedProgram& program);

/// Each kernel, call, draw and copy: `kind`, `name`, the locations of the nodes whose values it writes, `seconds` and
/// `passes` of all calls so far, and `least_seconds` of one call.
nanobind::list step_times(const EmittedProgram& program, const BoundProgram& bound, const runtime::StepTimes& times);

}  // namespace inlay::python
