#pragma once
// Plans of memory as Python has them: planners that are Python functions, and plans as data.
#include <string>

#include <nanobind/nanobind.h>

#include "compiler/compile.h"

namespace inlay::python {

/// How a program's memory is laid out: `planner` by name, or "" for the default; `custom`: a function from a list of
/// (name, size, alignment, lower, upper) to offsets, or None. Takes no reference to it: that it lives is up to the
/// caller.
memory::PlannerOptions planning(const std::string& planner, nanobind::handle custom, nanobind::dict upper_bounds);

/// The layout of the program's memory as a dict: peak, lower_bound, planner, seconds, storages; and buffers, what its
/// picture is made of: the values in working memory, each as a dict: name, type, bytes, offset, begin, end, storage,
/// made_by, reason. None where it depends on sizes and `sizes`, a dict by name, is None.
nanobind::object plan_of(const EmittedProgram& program, const memory::PlannerOptions& options, nanobind::object sizes);

/// The picture of the program's memory over time, as a page of HTML. `sizes`: a dict by name, or None; where the memory
/// depends on sizes that it lacks, Error.
std::string memory_page(const EmittedProgram& program, const memory::PlannerOptions& options, const std::string& title,
                        nanobind::object sizes);

void bind_planning(nanobind::module_& m);

}  // namespace inlay::python
