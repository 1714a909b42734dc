#pragma once
// An array of the reference evaluator: a dtype, dims, and row-major bytes of its own.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ops/element_types.h"
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
