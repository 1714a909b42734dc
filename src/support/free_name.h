#pragma once
// Names that nothing else has.
#include <string>

#include "support/str.h"

namespace inlay {

/// Returns the first of name, name_2, name_3, ... that `take` takes: it says whether the name is free.
template <class Take>
std::string free_name(const std::string& name, Take take) {
  std::string out = name;
  for (int k = 2; !take(out); ++k) out = str(name, "_", k);
  return out;
}

}  // namespace inlay
