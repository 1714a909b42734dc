#include "ops/facts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ops/element_types.h"
#include "support/error.h"

namespace inlay {
namespace {

/// visitor(T*) with the elements as what they are; false where they are no integers.
template <class Visitor>
bool visit_integers(DType dtype, const void* elements, Visitor visitor) {
  if (!is_integer(dtype)) return false;
  visit_element_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) visitor(static_cast<const T*>(elements));
  });
  return true;
}

template <class T>
void check_elements(const Facts& facts, const T* elements, int64_t count, std::string_view array) {
  const auto broken = [&](const std::string& fact, int64_t i) {
    return Error(ErrorCode::false_fact, {},
                 str(array, ": bound with ", fact, ", but element ", i, " is ", std::to_string(elements[i])));
  };
  for (int64_t i = 0; i < count; ++i) {
    if (facts.has_range && std::cmp_less(elements[i], facts.min)) throw broken(str("min ", facts.min), i);
    if (facts.has_range && std::cmp_greater(elements[i], facts.max)) throw broken(str("max ", facts.max), i);
    if (facts.sorted && i > 0 && elements[i] < elements[i - 1]) {
      throw Error(ErrorCode::false_fact, {},
                  str(array, ": bound as sorted, but element ", i, " is ", std::to_string(elements[i]), ", after ",
                      std::to_string(elements[i - 1])));
    }
  }
}

}  // namespace

Facts facts_of(DType dtype, const void* elements, int64_t count) {
  Facts facts;
  if (count == 0) return facts;
  visit_integers(dtype, elements, [&](const auto* data) {
    const auto [min, max] = std::minmax_element(data, data + count);
    // An element beyond int64_t says nothing that a dim could be compared with.
    if (!std::in_range<int64_t>(*max)) return;
    facts.has_range = true;
    facts.min = static_cast<int64_t>(*min);
    facts.max = static_cast<int64_t>(*max);
    facts.sorted = std::is_sorted(data, data + count);
  });
  return facts;
}

void check_facts(const Facts& facts, DType dtype, const void* elements, int64_t count, std::string_view array) {
  if (facts == Facts()) return;
  const bool known =
      visit_integers(dtype, elements, [&](const auto* data) { check_elements(facts, data, count, array); });
  if (known) return;
  throw Error(ErrorCode::wrong_dtype, {}, str(array, ": facts are of integers, not of ", dtype_name(dtype)));
}

}  // namespace inlay
