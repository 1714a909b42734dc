#pragma once
// Questions about a size that multiplication and text both ask.
#include <algorithm>

#include "ir/dim.h"

namespace inlay {

inline bool is_sum(const Dim::Atom& atom) { return atom.kind == Dim::Atom::Kind::sum; }

/// Is a factor of it a sum?
inline bool has_sum(const Dim& dim) {
  return std::ranges::any_of(dim.terms(),
                             [](const Dim::Term& term) { return std::ranges::any_of(term.factors, is_sum); });
}

}  // namespace inlay
