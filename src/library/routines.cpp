#include "library/routines.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#if INLAY_LINKS_BLAS
#include <cblas.h>
#endif

#include "support/error.h"

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace inlay::library {
namespace {

std::atomic<RoutineSource> source = nullptr;
std::atomic<bool> is_filled = false;
std::mutex mutex;  // of what is written: the table and
std::string text;

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

void set_routine_source(RoutineSource function) { source = function; }

bool fill_routines() {
  if (is_filled.load(std::memory_order_acquire)) return true;
  std::array<void*, kNumRoutines> addresses{};
  std::string whose = "linked";
  if (has_linked_routines()) {
    // The caller decides about threads; a library that starts its own would interfere.
    if (openblas_set_num_threads) openblas_set_num_threads(1);
  } else {
    const RoutineSource function = source;
    if (function == nullptr) {
      throw Error(ErrorCode::unsupported, {}, "this build of inlay takes BLAS and LAPACK from SciPy, and knows of none")
          .help("build it with -DINLAY_BLAS=system where no Python is");
    }
    whose = function(addresses);  // may wait, as for the GIL: no lock is held
    if (whose.empty()) return false;
  }
  const std::scoped_lock lock(mutex);
  if (is_filled) return true;
  if (!has_linked_routines()) std::memcpy(static_cast<void*>(&detail::routines), addresses.data(), sizeof(Routines));
  text = whose;
  is_filled.store(true, std::memory_order_release);
  return true;
}

std::string routines_text() {
  const std::scoped_lock lock(mutex);
  return has_linked_routines() ? "linked" : text;
}

}  // namespace inlay::library
