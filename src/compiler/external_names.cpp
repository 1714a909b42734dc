#include "compiler/external_names.h"

#include <cstring>

#include "library/library.h"
#include "ops/scalar_functions.h"
#include "runtime/step_times.h"

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
    {"memcpy", address(&std::memcpy)},
    {"memset", address(&std::memset)},
    {"memmove", address(&std::memmove)},
    {"inlay_step_begins", address(&runtime::inlay_step_begins)},
};

}  // namespace

void* find_external(std::string_view name) {
  if (const ScalarFunction* function = find_scalar_function(name)) return const_cast<void*>(function->address);
  if (const InlayLibraryFunction function = library::find_function(name)) return address(function);
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.address;
  }
  return nullptr;
}

}  // namespace inlay
