#pragma once
// A vector whose first few elements are in the object itself, for the short lists of every statement and access map,
// which are copied far more often than made.
#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace inlay {

/// Elements must be cheap to make and to copy: erased ones stay until they are overwritten. Up to N of them need no
/// allocation.
template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_nothrow_move_assignable_v<T>);

 public:
  using value_type = T;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> items) : SmallVector(items.begin(), items.end()) {}
  SmallVector(const std::vector<T>& items) : SmallVector(items.begin(), items.end()) {}  // NOLINT: the same list
  template <class Iterator>
  SmallVector(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }
  SmallVector(const SmallVector&) = default;
  SmallVector& operator=(const SmallVector&) = default;
  /// Leaves the other one empty.
  SmallVector(SmallVector&& other) noexcept
      : size_(std::exchange(other.size_, 0)), few_(std::move(other.few_)), more_(std::move(other.more_)) {}
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    size_ = std::exchange(other.size_, 0);
    few_ = std::move(other.few_);
    more_ = std::move(other.more_);
    return *this;
  }

  void push_back(const T& item) {
    if (!more_.empty()) {
      more_.push_back(item);
    } else if (size_ < N) {
      few_[size_] = item;
    } else {
      more_.assign(few_.begin(), few_.end());
      more_.push_back(item);  // which may be in few_: its elements are still there
    }
    ++size_;
  }

  /// Removes [first, last).
  void erase(T* first, T* last) {
    std::copy(last, end(), first);
    size_ -= static_cast<std::size_t>(last - first);
    if (!more_.empty()) more_.resize(size_);
  }
  void clear() { *this = {}; }

  T* begin() { return more_.empty() ? few_.data() : more_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return more_.empty() ? few_.data() : more_.data(); }
  const T* end() const { return begin() + size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return begin(); }
  const T* data() const { return begin(); }

  bool operator==(const SmallVector& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  std::size_t size_ = 0;
  std::array<T, N> few_{};
  std::vector<T> more_;  // all of them, once there are more than N
};

template <class T, std::size_t N, class Predicate>
void erase_if(SmallVector<T, N>& items, Predicate predicate) {
  items.erase(std::remove_if(items.begin(), items.end(), predicate), items.end());
}

}  // namespace inlay
