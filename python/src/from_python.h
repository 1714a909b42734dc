#pragma once
// What Python gives where a whole number, a text or a tuple is wanted; of anything else errors say what it is. `what`
// begins them: "the size n".
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "support/error.h"

namespace inlay::python {

/// Of Python's and NumPy's integers.
///
/// Errors: wrong-dtype of anything else; `too_large` of one that does not fit in 64 bits.
int64_t whole_number(nanobind::handle value, const std::string& what, ErrorCode too_large = ErrorCode::size_overflow);

/// Errors: wrong-dtype.
std::string text_of(nanobind::handle value, const std::string& what);

/// A dict by name; none of None.
///
/// Errors: wrong-dtype, size-overflow.
std::vector<std::pair<std::string, int64_t>> sizes_of(nanobind::handle dict);

/// A tuple of so many: to take a part that a tuple has not is no error of nanobind's, but a crash.
///
/// Errors: wrong-dtype.
nanobind::tuple tuple_of(nanobind::handle value, std::size_t size, const std::string& what);

}  // namespace inlay::python
