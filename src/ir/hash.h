#pragma once
// Hashes of the parts of a graph, for tables that live within one pass.
#include <bit>
#include <cstdint>

#include "ir/graph.h"

namespace inlay {

inline std::size_t mixed(std::size_t hash, uint64_t item) {
  return (hash ^ item) * 0x9e3779b97f4a7c15u + std::rotl(hash, 23);
}

/// Equal sizes have equal hashes. Of a floor division, a min or a max only the kind counts.
inline std::size_t mixed(std::size_t hash, const Dim& dim) {
  hash = mixed(hash, static_cast<uint64_t>(dim.constant_part()));
  if (dim.is_constant()) return hash;
  for (const Dim::Term& term : dim.terms()) {
    hash = mixed(hash, static_cast<uint64_t>(term.coefficient));
    for (const Dim::Atom& atom : term.factors) {
      hash = mixed(hash, static_cast<uint64_t>(atom.kind) << 32 | atom.symbol.index);
    }
  }
  return hash;
}

struct DimHash {
  std::size_t operator()(const Dim& dim) const { return mixed(0, dim); }
};

}  // namespace inlay
