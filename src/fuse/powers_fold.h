#pragma once
// A sum of exponentials, found along with the greatest element.
#include "fuse/cone.h"

namespace inlay::fuse {

/// sum(exp(x - greatest of x)) over a whole array, as softmax and logsumexp have it: the sum and the greatest are two
/// states of one fold, so one pass over x makes both.
struct PowersFold {
  ValueId greatest;  // reduce max of x
  ValueId x;
  bool if_finite = false;  // x less its greatest only where that is finite
};

/// The reduce `v` as such a fold, if it is one, and nothing else needs the exponentials. `uses`: count_uses.
std::optional<PowersFold> powers_fold(const Graph& graph, ValueId v, const Forced& forced,
                                      const IdMap<ValueId, int>& uses);

}  // namespace inlay::fuse
