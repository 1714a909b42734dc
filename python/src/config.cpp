#include "config.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "backend/llvm/backend.h"
#include "backend/llvm/cpu.h"
#include "compiler/backends.h"
#include "library/routines.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace inlay::python {
namespace {

#ifdef Py_LIMITED_API
constexpr bool kIsStableAbi = true;
#else
constexpr bool kIsStableAbi = false;
#endif

/// By name; nothing is loaded or imported for it.
nb::dict config() {
  nb::list names;
  for (const Backend& backend : backends()) {
    if (backend.is_available()) names.append(backend.name);
  }
  nb::dict out;
  out["stable_abi"] = kIsStableAbi;
  const std::string features = llvm_backend::features_from_environment();
  out["level"] = llvm_backend::level_of(features).name;
  out["cpu_features"] = features;
  out["backends"] = names;
  out["blas_is_linked"] = library::has_linked_routines();
  out["blas"] = library::routines_text();
  out["llvm"] = llvm_backend::llvm_version();
  out["jit"] = llvm_backend::jit_path();
  return out;
}

}  // namespace

void bind_config(nb::module_& m) { m.def("config", config); }

}  // namespace inlay::python
