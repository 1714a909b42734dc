#pragma once
// What XLA's handlers (xla_handlers.cpp) and the functions that they call know of each other.
#include <cstdint>
#include <memory>

#include <nanobind/nanobind.h>

#include "foreign_call.h"

namespace inlay::python {

/// Null: it is gone, or was one of another process.
std::shared_ptr<const ForeignFunction> function_of_number(int64_t number);

nanobind::dict xla_handlers();

}  // namespace inlay::python
