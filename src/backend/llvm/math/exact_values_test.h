#pragma once
// What the vector functions should give, from MPFR: for the measurement of docs/math.md.
#include <string>

namespace inlay::llvm_backend {

/// Whether the tests were built with MPFR.
bool has_exact_values();

/// f(x), or f(x, y), rounded from at least 90 bits to the 64 of a long double.
long double exact_value(const std::string& name, double x, double y = 0);

}  // namespace inlay::llvm_backend
