#pragma once
// What is known of a bound array: found when it is bound, or claimed by a program's text and then checked.
#include <cstdint>
#include <string_view>

#include "ops/dtype.h"

namespace inlay {

/// Of an array of integers. Code may depend on it, and on nothing else of the bytes.
struct Facts {
  bool has_range = false;  // every element is in [min, max]
  int64_t min = 0, max = 0;
  bool sorted = false;  // ascending
  bool operator==(const Facts&) const = default;
};

/// Range and order of `count` elements; nothing for other dtypes than integers.
Facts facts_of(DType dtype, const void* elements, int64_t count);

/// Throws Error(false_fact) that names the array, the fact and the first element that contradicts it. Every door calls
/// it once on an array whose facts it did not find itself: code that trusts a false fact reads and writes anywhere.
void check_facts(const Facts& facts, DType dtype, const void* elements, int64_t count, std::string_view array);

}  // namespace inlay
