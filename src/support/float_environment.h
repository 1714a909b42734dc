#pragma once
// The floating-point environment of a process is the host's: a call of fesetround, or a library built with -ffast-math
// that flushes subnormals, would change what a compiled program means and computes.
#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace inlay {

/// Does it round to nearest, keep subnormals and trap nothing, and do long doubles have all their digits?
inline bool is_default_float_environment() {
#if defined(__x86_64__)
  constexpr unsigned kRaised = 0x3f, kDefault = 0x1f80;
  constexpr uint16_t kDefaultOfLong = 0x37f;
  uint16_t of_long = 0;
  asm volatile("fnstcw %0" : "=m"(of_long));
  return (_mm_getcsr() & ~kRaised) == kDefault && of_long == kDefaultOfLong;
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control == 0;
#else
  return std::fegetround() == FE_TONEAREST;
#endif
}

/// Sets the default environment while this lives, and then restores the caller's. Costs a few cycles if it is the
/// default already.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() : was_default_(is_default_float_environment()) {
    if (was_default_) return;
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() {
    if (!was_default_) std::fesetenv(&callers_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  bool was_default_;
  std::fenv_t callers_;
};

}  // namespace inlay
