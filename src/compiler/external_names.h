#pragma once
#include <string_view>

namespace inlay {

/// The address of a function that generated code calls by name: a scalar function, memcpy and memset, a BLAS routine.
/// Null where the name is unknown.
void* find_external(std::string_view name);

}  // namespace inlay
