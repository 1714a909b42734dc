#include "config.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "backend/llvm/backend.h"
#include "backend/llvm/cpu.h"
#include "compiler/backends.h"
#include "file/cache_folder.h"
#include "library/routines.h"
#include "runtime/pool.h"
#include "support/cpu_features.h"
#include "thread_count.h"

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
  std::string features;
  try {
    features = llvm_backend::features_from_environment();
    out["wrong_features"] = "";
  } catch (const Error& error) {
    out["wrong_features"] = error.diagnostic().message;
  }
  out["level"] = llvm_backend::level_of(features).name;
  out["cpu_features"] = features;
  out["instruction_sets"] = cpu_features();
  out["backends"] = names;
  out["links_blas"] = library::has_linked_routines();
  out["blas_is_too_old"] = library::is_linked_blas_too_old();
  out["blas"] = library::routines_text();
  out["llvm"] = llvm_backend::llvm_version();
  out["jit"] = llvm_backend::jit_path();
  return out;
}

nb::bytes cache_folder() {
  const std::string folder = file::cache_folder().string();
  return nb::bytes(folder.data(), folder.size());
}

void trim_cache(const nb::bytes& folder) {
  const std::filesystem::path path = std::string(folder.c_str(), folder.size());
  file::trim_cache(path, file::cache_limit_bytes());
}

}  // namespace

void bind_config(nb::module_& m) {
  m.def("config", config);
  m.def("max_threads", runtime::max_threads);
  m.def("set_max_threads", runtime::set_max_threads, "count"_a);
  m.def(
      "thread_count", [](const char* what, nb::handle value) { return thread_count(what, value.ptr()); }, "what"_a,
      "value"_a.none(), "A number of threads, as `what` takes it; raises TypeError or ValueError for what is none.");
  m.def("num_pool_threads", runtime::num_pool_threads, "How many threads inlay has started in this process.");
  m.def("cache_folder", cache_folder, "Where compiled functions are kept; empty where nowhere.");
  m.def("cache_limit_bytes", file::cache_limit_bytes, "The bytes that they may have.");
  m.def("trim_cache", trim_cache, "folder"_a, "Removes the longest unused of them, down to those bytes.");
}

}  // namespace inlay::python
