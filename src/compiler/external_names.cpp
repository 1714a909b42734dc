#include "compiler/external_names.h"

#include <bit>
#include <cstring>

#include <math.h>  // NOLINT: roundeven is in no C++ header

#include "backend/llvm/backend.h"
#include "kernel/kernel.h"
#include "library/call.h"
#include "library/library.h"
#include "ops/element_types.h"
#include "ops/scalar_functions.h"
#include "runtime/step_times.h"

#if defined(__aarch64__)
// A long double has 113 bits there, and a C compiler calls these of its own library.
extern "C" {
long double __extenddftf2(double);
double __trunctfdf2(long double);
long double __addtf3(long double, long double);
long double __subtf3(long double, long double);
long double __multf3(long double, long double);
long double __divtf3(long double, long double);
int __unordtf2(long double, long double);
int __eqtf2(long double, long double);
int __netf2(long double, long double);
int __lttf2(long double, long double);
int __letf2(long double, long double);
int __gttf2(long double, long double);
int __getf2(long double, long double);
}
#endif

namespace inlay {
namespace {

// The functions of src/library return them as numbers, since that folder sees no kernels.
static_assert(library::kTooLarge == static_cast<int32_t>(kernel::LibraryStatus::too_large));
static_assert(library::kFailed == static_cast<int32_t>(kernel::LibraryStatus::failed));

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

struct Name {
  std::string_view name;
  void* address;
};

// LLVM keeps an f16 in the low bits of a register for floats.
float widen_half(float half) { return widen(Half{static_cast<uint16_t>(std::bit_cast<uint32_t>(half))}); }
float narrow_to_half(float x) { return std::bit_cast<float>(uint32_t{half_of(static_cast<double>(x)).bits}); }

const Name kNames[] = {
    {"memcpy", address(&std::memcpy)},
    {"memset", address(&std::memset)},
    {"memmove", address(&std::memmove)},
    {"inlay_step_begins", address(&runtime::inlay_step_begins)},
    // LLVM calls these on a CPU without SSE4.1, FMA or F16C.
    {"floor", address<double(double)>(&::floor)},
    {"floorf", address(&::floorf)},
    {"ceil", address<double(double)>(&::ceil)},
    {"ceilf", address(&::ceilf)},
    {"trunc", address<double(double)>(&::trunc)},
    {"truncf", address(&::truncf)},
    {"roundeven", address<double(double)>(&::roundeven)},
    {"roundevenf", address(&::roundevenf)},
    {"fma", address<double(double, double, double)>(&::fma)},
    {"fmaf", address(&::fmaf)},
    {"__extendhfsf2", address(&widen_half)},
    {"__truncsfhf2", address(&narrow_to_half)},
#if defined(__aarch64__)
    {"__extenddftf2", address(&__extenddftf2)},
    {"__trunctfdf2", address(&__trunctfdf2)},
    {"__addtf3", address(&__addtf3)},
    {"__subtf3", address(&__subtf3)},
    {"__multf3", address(&__multf3)},
    {"__divtf3", address(&__divtf3)},
    {"__unordtf2", address(&__unordtf2)},
    {"__eqtf2", address(&__eqtf2)},
    {"__netf2", address(&__netf2)},
    {"__lttf2", address(&__lttf2)},
    {"__letf2", address(&__letf2)},
    {"__gttf2", address(&__gttf2)},
    {"__getf2", address(&__getf2)},
#endif
};

}  // namespace

void* find_external(std::string_view name) {
  if (const ScalarFunction* function = find_scalar_function(name)) return const_cast<void*>(function->address);
  if (const InlayLibraryFunction function = library::find_function(name)) return address(function);
  if (void* const function = llvm_backend::find_vector_function(name)) return function;
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.address;
  }
  return nullptr;
}

}  // namespace inlay
