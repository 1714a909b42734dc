#pragma once
// Host functions beside what a program says of them: is there one for each call, and did it return what is declared?
#include <functional>
#include <optional>
#include <span>

#include "runtime/object.h"

namespace inlay::runtime {

/// Throws Error(unknown-name) where the program calls a function that nobody has given; `is_given` answers by number.
void require_host_functions(const Object& object, const std::function<bool(std::size_t)>& is_given);

/// Returns the error in result `i` of a host call: `smooth: result 0 is f32[3], not f64[n]`. The code compares dims
/// that the graph does not know as numbers, after the call has returned.
///
/// Errors: wrong-dtype, wrong-rank, shape-mismatch.
std::optional<Error> wrong_host_result(const HostCallSpec& call, std::size_t i, std::string_view dtype,
                                       std::span<const int64_t> dims);

/// The error of a wrong number of results: "host function `f` returned 3 results; 2 are declared: f64[n], i64". `came`
/// says what was returned: "3 results", "None".
Error wrong_host_results(const HostCallSpec& call, std::string_view came);

}  // namespace inlay::runtime
