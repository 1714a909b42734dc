// Functions of newer C libraries, by what older ones have. Linked into the shared objects of a wheel only.
#include <stdint.h>
#include <sys/random.h>

// glibc 2.36. LLVM asks it for the names of temporary files.
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

// glibc 2.35 has new versions of these, which do not set errno; the numbers are the same. The linker sends calls here
// (--wrap). The older version is of the glibc that was the first of its architecture.
#if defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#else
#define FIRST_GLIBC "GLIBC_2.2.5"
#endif
double hypot_of_any_glibc(double x, double y);
float hypotf_of_any_glibc(float x, float y);
__asm__(".symver hypot_of_any_glibc, hypot@" FIRST_GLIBC);
__asm__(".symver hypotf_of_any_glibc, hypotf@" FIRST_GLIBC);

__attribute__((visibility("hidden"))) double __wrap_hypot(double x, double y) { return hypot_of_any_glibc(x, y); }
__attribute__((visibility("hidden"))) float __wrap_hypotf(float x, float y) { return hypotf_of_any_glibc(x, y); }
