#pragma once
// What a host function returned, beside what the graph says of it.
#include <optional>
#include <span>

#include "runtime/object.h"

namespace inlay::runtime {

/// What is wrong with result `i` of a host call: `smooth: result 0 is f32[3], not f64[n]`. Dims that the graph does not
/// know as numbers are compared by the code, when the call has returned.
///
/// Errors: wrong-dtype, wrong-rank, shape-mismatch.
std::optional<Error> wrong_host_result(const HostCallSpec& call, std::size_t i, std::string_view dtype,
                                       std::span<const int64_t> dims);

/// A host function returned something else than it shall, in number: "host function `f` returned 3 results; 2 are
/// declared: f64[n], i64". `came`: "3 results", "None".
Error wrong_host_results(const HostCallSpec& call, std::string_view came);

/// `f64[3, 4]`, and `f64` without dims.
std::string type_text(std::string_view dtype, std::span<const std::string> dims);
std::string type_text(std::string_view dtype, std::span<const int64_t> dims);

}  // namespace inlay::runtime
