#pragma once
// What a caller of Python chooses about a compilation.
#include <nanobind/nanobind.h>

#include "compiler/options.h"

namespace inlay::python {

/// The options that `choices` (python/inlay/choices.py) leaves as they are, or says otherwise. Takes no reference to
/// the functions in it: that they live is up to the caller. Throws Error(unknown-name) for a name that there is not.
Options options_of(nanobind::dict choices);

}  // namespace inlay::python
