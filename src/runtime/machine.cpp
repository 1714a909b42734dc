#include "runtime/machine.h"

#include "support/error.h"

namespace inlay::runtime {

const Machine& this_machine() {
#if defined(__x86_64__)
  return kX86;
#elif defined(__aarch64__)
  return kAarch64;
#else
#error "the loader does not know this processor's relocations"
#endif
}

void unsupported_by_loader(const std::string& what) {
  throw Error(ErrorCode::unsupported, {}, str("the loader cannot take ", what));
}

void unsupported_relocation(const Relocation& relocation) {
  unsupported_by_loader(str("relocation ", relocation.type, " (of ", relocation.name, " in ", relocation.section, ")"));
}

void too_far(const Relocation& relocation, std::string_view most) {
  unsupported_by_loader(str("the reference to ", relocation.name, ", which lies further away than ", most));
}

}  // namespace inlay::runtime
