#pragma once
// Profiles, for Python.
#include <string>

#include <nanobind/nanobind.h>

#include "bound_program.h"
#include "compiler/profile.h"
#include "runtime/step_times.h"

namespace inlay::python {

/// `rows`, `outside` and `text`, the table, of what calls have taken. `bandwidth`: of this machine, in GB/s. `notes`:
/// by the kind of step, what a formula of that kind does not say.
nanobind::dict profile(const EmittedProgram& program, const BoundProgram& bound, const runtime::StepTimes& times,
                       const std::string& name, const CallTimes& calls, double bandwidth, nanobind::dict notes);

/// The facts of profiles that belong to the module.
void bind_profile(nanobind::module_& m);

}  // namespace inlay::python
