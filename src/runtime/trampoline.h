#pragma once
// Makes a plain C function pointer for a function with state.
//
// A sampler calls `int f(size_t, const double *, double *, double *, const void *user_data)` from many threads and
// passes its own user_data. So the state cannot be an argument: it is baked into a few bytes of machine code, made for
// one context, that put the context where a sixth argument would be and jump to the target.
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::runtime {

class Trampoline {
 public:
  Trampoline() = default;
  /// Makes a function that calls `target` with its own first five arguments and `context` as the sixth. The arguments
  /// must be integers or pointers; the result may have any type.
  Trampoline(void* target, const void* context);
  ~Trampoline();
  Trampoline(Trampoline&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  Trampoline& operator=(Trampoline&& other) noexcept {
    std::swap(page_, other.page_);
    return *this;
  }

  void* address() const { return page_; }

 private:
  void* page_ = nullptr;
};

}  // namespace inlay::runtime
