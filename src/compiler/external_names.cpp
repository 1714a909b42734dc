#include "compiler/external_names.h"

#include <cstring>

#include <cblas.h>

#include "ops/scalar_functions.h"

namespace inlay {
namespace {

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

struct Name {
  std::string_view name;
  void* address;
};

const Name kNames[] = {
    {"memcpy", address(&std::memcpy)},      {"memset", address(&std::memset)},
    {"memmove", address(&std::memmove)},    {"cblas_dgemm", address(&cblas_dgemm)},
    {"cblas_dgemv", address(&cblas_dgemv)}, {"cblas_sgemm", address(&cblas_sgemm)},
    {"cblas_sgemv", address(&cblas_sgemv)},
};

}  // namespace

void* find_external(std::string_view name) {
  if (const ScalarFunction* function = find_scalar_function(name)) return const_cast<void*>(function->address);
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.address;
  }
  return nullptr;
}

}  // namespace inlay
