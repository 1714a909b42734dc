#pragma once
// What is found out about an array once, when it is bound.
#include <algorithm>
#include <cstdint>

#include "ir/graph.h"

namespace inlay::python {

template <class T>
Facts facts_of_elements(const T* data, int64_t count) {
  Facts facts;
  if (count == 0) return facts;
  const auto [least, greatest] = std::minmax_element(data, data + count);
  // An index dtype wider than int64_t's positive half says nothing that a dim could be compared with.
  if (static_cast<uint64_t>(*greatest) > static_cast<uint64_t>(INT64_MAX) && *greatest > T(0)) return facts;
  facts.has_range = true;
  facts.least = static_cast<int64_t>(*least);
  facts.greatest = static_cast<int64_t>(*greatest);
  facts.sorted = std::is_sorted(data, data + count);
  return facts;
}

/// Range and order of an integer array; nothing for other dtypes.
inline Facts facts_of(DType dtype, const void* data, int64_t count) {
  switch (dtype) {
    case DType::i8: return facts_of_elements(static_cast<const int8_t*>(data), count);
    case DType::i16: return facts_of_elements(static_cast<const int16_t*>(data), count);
    case DType::i32: return facts_of_elements(static_cast<const int32_t*>(data), count);
    case DType::i64: return facts_of_elements(static_cast<const int64_t*>(data), count);
    case DType::u8: return facts_of_elements(static_cast<const uint8_t*>(data), count);
    case DType::u16: return facts_of_elements(static_cast<const uint16_t*>(data), count);
    case DType::u32: return facts_of_elements(static_cast<const uint32_t*>(data), count);
    case DType::u64: return facts_of_elements(static_cast<const uint64_t*>(data), count);
    case DType::boolean:
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
    case DType::c128:
    case DType::opaque: return {};
  }
  return {};
}

}  // namespace inlay::python
