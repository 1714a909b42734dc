#pragma once
// An array of values that is on the stack while it is short, and begins as T().
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace inlay::runtime {

template <class T, std::size_t kInline>
class Scratch {
 public:
  explicit Scratch(std::size_t size) : size_(size) {
    if (size > kInline) {
      heap_.resize(size);
    } else {
      for (std::size_t i = 0; i < size; ++i) inline_[i] = T();
    }
  }
  T* data() { return heap_.empty() ? inline_.data() : heap_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }
  std::span<T> span() { return {data(), size_}; }

 private:
  std::size_t size_;
  std::array<T, kInline> inline_;  // beyond `size_` never read: a short call does not pay for it
  std::vector<T> heap_;
};

}  // namespace inlay::runtime
