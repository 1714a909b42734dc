#include "ops/facts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "support/error.h"

namespace inlay {
namespace {

/// visitor(T*) with the elements as what they are; false where they are no integers.
template <class Visitor>
bool visit_integers(DType dtype, const void* elements, Visitor visitor) {
  switch (dtype) {
    case DType::i8: visitor(static_cast<const int8_t*>(elements)); return true;
    case DType::i16: visitor(static_cast<const int16_t*>(elements)); return true;
    case DType::i32: visitor(static_cast<const int32_t*>(elements)); return true;
    case DType::i64: visitor(static_cast<const int64_t*>(elements)); return true;
    case DType::u8: visitor(static_cast<const uint8_t*>(elements)); return true;
    case DType::u16: visitor(static_cast<const uint16_t*>(elements)); return true;
    case DType::u32: visitor(static_cast<const uint32_t*>(elements)); return true;
    case DType::u64: visitor(static_cast<const uint64_t*>(elements)); return true;
    case DType::boolean:
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
    case DType::c128:
    case DType::opaque: return false;
  }
  return false;
}

template <class T>
void check_elements(const Facts& facts, const T* elements, int64_t count, std::string_view array) {
  const auto broken = [&](const std::string& fact, int64_t i) {
    return Error(ErrorCode::false_fact, {},
                 str(array, ": bound with ", fact, ", but element ", i, " is ", std::to_string(elements[i])));
  };
  for (int64_t i = 0; i < count; ++i) {
    if (facts.has_range && std::cmp_less(elements[i], facts.least)) throw broken(str("min ", facts.least), i);
    if (facts.has_range && std::cmp_greater(elements[i], facts.greatest)) throw broken(str("max ", facts.greatest), i);
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
    const auto [least, greatest] = std::minmax_element(data, data + count);
    // An element beyond int64_t says nothing that a dim could be compared with.
    if (!std::in_range<int64_t>(*greatest)) return;
    facts.has_range = true;
    facts.least = static_cast<int64_t>(*least);
    facts.greatest = static_cast<int64_t>(*greatest);
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
