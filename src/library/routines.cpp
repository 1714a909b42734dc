#include "library/routines.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#if INLAY_LINKS_BLAS
#include <cblas.h>
#endif

#include "support/error.h"

extern "C" {
void openblas_set_num_threads(int) __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
}

namespace inlay::library {
namespace {

std::atomic<RoutineSource> source = nullptr;
std::atomic<bool> is_filled = false;
std::mutex mutex;  // of what is written: the table and
std::string text;

const std::string kLinked = "linked";

std::string_view linked_core() {
  const char* name = openblas_get_corename ? openblas_get_corename() : nullptr;
  return name == nullptr ? "" : name;
}

bool has_avx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// Returns the name of the library whose functions are taken, and fills `addresses` if they are not the linked ones.
std::string choose(std::span<void*> addresses) {
  const RoutineSource function = source;
  const bool is_linked = has_linked_routines();
  if (function == nullptr && !is_linked) {
    throw Error(ErrorCode::unsupported, {}, "this build of inlay takes BLAS and LAPACK from SciPy, and knows of none")
        .help("build it with -DINLAY_BLAS=system where no Python is");
  }
  if (!is_linked) return function(addresses);
  if (function == nullptr || !is_linked_blas_too_old()) return kLinked;
  try {
    const std::string other = function(addresses);
    return other.empty() ? kLinked : other;
  } catch (const Error&) {
    return kLinked;  // slow, but there
  }
}

#if INLAY_LINKS_BLAS
constexpr Routines linked() {
  Routines out;
#define INLAY_ROUTINE(name) out.name = ::name##_;
  INLAY_BLAS_ROUTINES(INLAY_ROUTINE)
  INLAY_LAPACK_ROUTINES(INLAY_ROUTINE)
#undef INLAY_ROUTINE
  out.cdotu = [](const int* n, const std::complex<float>* x, const int* incx, const std::complex<float>* y,
                 const int* incy) {
    std::complex<float> sum(0);
    cblas_cdotu_sub(*n, x, *incx, y, *incy, &sum);
    return sum;
  };
  out.zdotu = [](const int* n, const std::complex<double>* x, const int* incx, const std::complex<double>* y,
                 const int* incy) {
    std::complex<double> sum(0);
    cblas_zdotu_sub(*n, x, *incx, y, *incy, &sum);
    return sum;
  };
  return out;
}
#endif

}  // namespace

#if INLAY_LINKS_BLAS
constinit Routines detail::routines = linked();
#else
constinit Routines detail::routines;
#endif

bool has_linked_routines() { return INLAY_LINKS_BLAS; }

bool is_too_old(std::string_view core, bool has_avx2, bool is_chosen) {
  return core == "Prescott" && has_avx2 && !is_chosen;
}

bool is_linked_blas_too_old() {
  return is_too_old(linked_core(), has_avx2(), std::getenv("OPENBLAS_CORETYPE") != nullptr);
}

const char* newest_known_core() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return "SkylakeX";
  }
#endif
  return "Haswell";
}

void set_routine_source(RoutineSource function) { source = function; }

bool fill_routines() {
  if (is_filled.load(std::memory_order_acquire)) return true;
  std::array<void*, kNumRoutines> addresses{};
  const std::string whose = choose(addresses);  // may wait, as for the GIL: no lock is held
  if (whose.empty()) return false;
  // The caller decides about threads; a library that starts its own would interfere.
  if (has_linked_routines() && openblas_set_num_threads) openblas_set_num_threads(1);
  const std::scoped_lock lock(mutex);
  if (is_filled) return true;
  if (whose != kLinked) std::memcpy(static_cast<void*>(&detail::routines), addresses.data(), sizeof(Routines));
  text = whose;
  is_filled.store(true, std::memory_order_release);
  return true;
}

std::string routines_text() {
  const std::scoped_lock lock(mutex);
  return text;
}

}  // namespace inlay::library
