#pragma once
// Arrays for calls. An Array owns its memory and is row-major. ArrayRef and ArrayOut point into memory of the caller,
// with any strides.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "ops/dtype.h"

namespace inlay {

/// Returns the dtype of a C++ type. (`bool` is one byte, as in NumPy.)
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return DType::boolean;
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float and double only");
    return sizeof(T) == 4 ? DType::f32 : DType::f64;
  } else {
    static_assert(std::is_integral_v<T>, "a number");
    constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
    constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
    constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kLog] : kUnsigned[kLog];
  }
}

/// A row-major array that owns its elements, aligned to 64 bytes. Copying it copies the elements.
class Array {
 public:
  Array() = default;
  /// Makes an array of zeros. Throws Error(size_overflow) or Error(out_of_memory).
  Array(DType dtype, std::vector<int64_t> dims);
  Array(const Array& other);
  /// What is moved from has no elements: its dims are {0}.
  Array(Array&& other) noexcept;
  Array& operator=(Array other) noexcept;

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t num_elements() const;
  void* data() { return data_.get(); }
  const void* data() const { return data_.get(); }

  /// Returns the elements in row-major order. Throws Error(wrong_dtype) if the dtype is not that of T.
  template <class T>
  std::span<T> elements() {
    require(dtype_of<T>());
    return {static_cast<T*>(data()), static_cast<std::size_t>(num_elements())};
  }
  template <class T>
  std::span<const T> elements() const {
    require(dtype_of<T>());
    return {static_cast<const T*>(data()), static_cast<std::size_t>(num_elements())};
  }

 private:
  void require(DType dtype) const;
  struct Free {
    void operator()(void* memory) const noexcept;
  };

  DType dtype_ = DType::f64;
  std::vector<int64_t> dims_ = {0};
  std::unique_ptr<void, Free> data_;
};

/// std::mdspan, and any type with the same members: it has an extent and a stride (in elements) for each axis.
template <class View>
concept StridedView = requires(const View& view) {
  typename View::element_type;
  { view.data_handle() } -> std::convertible_to<const typename View::element_type*>;
  { view.rank() } -> std::convertible_to<std::size_t>;
  { view.extent(0) } -> std::convertible_to<int64_t>;
  { view.stride(0) } -> std::convertible_to<int64_t>;
};

/// A StridedView for compilers without <mdspan>: `View<const double>(data, {rows, columns}, {1, rows})` is a
/// column-major matrix. Without strides it is row-major.
template <class T>
class View {
 public:
  using element_type = T;
  View(T* data, std::vector<int64_t> dims) : data_(data), dims_(std::move(dims)), strides_(dims_.size(), 1) {
    for (std::size_t axis = dims_.size(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * dims_[axis];
  }
  /// There must be as many strides, in elements, as dims.
  View(T* data, std::vector<int64_t> dims, std::vector<int64_t> strides)
      : data_(data), dims_(std::move(dims)), strides_(std::move(strides)) {}

  T* data_handle() const { return data_; }
  std::size_t rank() const { return dims_.size(); }
  int64_t extent(std::size_t axis) const { return dims_[axis]; }
  int64_t stride(std::size_t axis) const { return strides_.at(axis); }

 private:
  T* data_;
  std::vector<int64_t> dims_, strides_;
};

/// Elements that an argument is read from; they must outlive it. A call copies them if they are not row-major, and
/// refuses a null `data` where there are elements.
struct ArrayRef {
  DType dtype = DType::f64;
  std::vector<int64_t> dims;
  const void* data = nullptr;
  std::vector<int64_t> strides;  // in elements, by axis, also negative; empty: row-major

  ArrayRef(DType dtype, std::vector<int64_t> dims, const void* data, std::vector<int64_t> strides = {})
      : dtype(dtype), dims(std::move(dims)), data(data), strides(std::move(strides)) {}
  template <StridedView View>
  ArrayRef(const View& view)  // NOLINT: a view is an argument
      : dtype(dtype_of<std::remove_const_t<typename View::element_type>>()), data(view.data_handle()) {
    for (std::size_t axis = 0; axis < view.rank(); ++axis) {
      dims.push_back(static_cast<int64_t>(view.extent(axis)));
      strides.push_back(static_cast<int64_t>(view.stride(axis)));
    }
  }
  ArrayRef(const Array& array)  // NOLINT: an Array is an argument
      : ArrayRef(array.dtype(), array.dims(), array.data()) {}
  template <class T>
  ArrayRef(std::span<T> elements)  // NOLINT: a vector
      : ArrayRef(dtype_of<std::remove_const_t<T>>(), {static_cast<int64_t>(elements.size())}, elements.data()) {}
  template <class T>
    requires(!std::is_same_v<T, bool>)
  ArrayRef(const std::vector<T>& elements)  // NOLINT: a vector
      : ArrayRef(std::span<const T>(elements)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  ArrayRef(const T& number)  // NOLINT: a 0-d array
      : ArrayRef(dtype_of<T>(), {}, &number) {}
};

/// Memory that a result is written to; it must outlive this. If it is not row-major, the call copies the result there
/// at its end.
struct ArrayOut {
  DType dtype = DType::f64;
  std::vector<int64_t> dims;
  void* data = nullptr;
  std::vector<int64_t> strides;  // as in ArrayRef; no two elements may share bytes

  ArrayOut(DType dtype, std::vector<int64_t> dims, void* data, std::vector<int64_t> strides = {})
      : dtype(dtype), dims(std::move(dims)), data(data), strides(std::move(strides)) {}
  template <StridedView View>
    requires(!std::is_const_v<typename View::element_type>)
  ArrayOut(const View& view)  // NOLINT: a view is a place
      : dtype(dtype_of<typename View::element_type>()), data(view.data_handle()) {
    const ArrayRef same(view);
    dims = same.dims;
    strides = same.strides;
  }
  ArrayOut(Array& array)  // NOLINT: an Array is a place
      : ArrayOut(array.dtype(), array.dims(), array.data()) {}
  template <class T>
    requires(!std::is_const_v<T>)
  ArrayOut(std::span<T> elements)  // NOLINT: a vector
      : ArrayOut(dtype_of<T>(), {static_cast<int64_t>(elements.size())}, elements.data()) {}
  template <class T>
    requires(!std::is_same_v<T, bool>)
  ArrayOut(std::vector<T>& elements)  // NOLINT: a vector
      : ArrayOut(std::span<T>(elements)) {}
};

}  // namespace inlay
