#pragma once
#include <string_view>

namespace inlay {

/// Returns the address of a function that generated code calls by name: a scalar function, memcpy and memset, a BLAS
/// routine. Null if the name is unknown.
void* find_external(std::string_view name);

}  // namespace inlay
