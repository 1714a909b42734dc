#pragma once
// An array of the reference evaluator: a dtype, dims, and row-major bytes of its own.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ops/dtype.h"
#include "support/error.h"

namespace inlay::reference {

struct Tensor {
  DType dtype = DType::f64;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;

  /// Zeros.
  static Tensor zeros(DType dtype, std::vector<int64_t> dims);

  int rank() const { return static_cast<int>(dims.size()); }
  int64_t num_elements() const;
  const std::byte* element(int64_t i) const { return data.data() + i * size_bytes(dtype); }
  std::byte* element(int64_t i) { return data.data() + i * size_bytes(dtype); }

  // The elements as T, which must be the dtype's C++ type. (vector<bool> has no span: bools are read one by one.)
  template <class T>
  T get(int64_t i) const {
    T value;
    std::memcpy(&value, element(i), sizeof value);
    return value;
  }
  template <class T>
  void set(int64_t i, T value) {
    std::memcpy(element(i), &value, sizeof value);
  }

  /// `f64[2, 3]`
  std::string type_text() const;
  bool operator==(const Tensor&) const = default;
};

int64_t product(std::span<const int64_t> dims);

/// visitor(T()) with the C++ type of a dtype that arithmetic is done in here: bool, integers, f32, f64. Others:
/// unsupported.
template <class Visitor>
decltype(auto) visit_arithmetic(DType dtype, Visitor visitor) {
  switch (dtype) {
    case DType::boolean: return visitor(bool());
    case DType::i8: return visitor(int8_t());
    case DType::i16: return visitor(int16_t());
    case DType::i32: return visitor(int32_t());
    case DType::i64: return visitor(int64_t());
    case DType::u8: return visitor(uint8_t());
    case DType::u16: return visitor(uint16_t());
    case DType::u32: return visitor(uint32_t());
    case DType::u64: return visitor(uint64_t());
    case DType::f32: return visitor(float());
    case DType::f64: return visitor(double());
    case DType::f16:
    case DType::bf16:
    case DType::c64:
    case DType::c128:
    case DType::opaque: break;
  }
  throw Error(ErrorCode::unsupported, {}, str("the reference evaluator does no arithmetic on ", dtype_name(dtype)));
}

/// A tensor from a list, for tests: of<double>(DType::f64, {2}, {1.0, 2.0}).
template <class T>
Tensor tensor_of(DType dtype, std::vector<int64_t> dims, std::initializer_list<T> elements) {
  Tensor out = Tensor::zeros(dtype, std::move(dims));
  INLAY_CHECK(static_cast<int64_t>(elements.size()) == out.num_elements(), elements.size(), " elements for ",
              out.type_text());
  int64_t i = 0;
  for (const T& element : elements) out.set<T>(i++, element);
  return out;
}
inline Tensor f64(std::vector<int64_t> dims, std::initializer_list<double> elements) {
  return tensor_of<double>(DType::f64, std::move(dims), elements);
}
inline Tensor i64(std::vector<int64_t> dims, std::initializer_list<int64_t> elements) {
  return tensor_of<int64_t>(DType::i64, std::move(dims), elements);
}

}  // namespace inlay::reference
