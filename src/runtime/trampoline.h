#pragma once
// A plain C function pointer for something that has state.
//
// A sampler calls `int f(size_t, const double *, double *, double *, const void *user_data)` from many threads and
// passes what it likes as user_data. So the state cannot come in as an argument: it is baked into a few bytes of
// machine code, made for one context, that puts the context where a sixth argument would be and jumps on.
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::runtime {

class Trampoline {
 public:
  Trampoline() = default;
  /// A function that calls `target` with its own first five arguments and `context` as the sixth. For arguments that
  /// are integers or pointers; any result.
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
