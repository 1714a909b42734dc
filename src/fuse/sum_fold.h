#pragma once
// A sum that is folded along with another fold of the same array.
#include "fuse/cone.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

/// A sum over a whole array, of what is made of x and a number that is folded of x: the sum and that are two states of
/// one fold, so one pass over x makes both.
struct SumFold {
  // log_sum_exp: sum(exp(x - max of x)), as softmax and logsumexp have it; moments: sum((x - mean of x)^2), as a
  // variance has it
  Fold fold = Fold::none;
  ValueId beside;  // reduce max of x, or reduce add
  ValueId x;
  bool if_finite = false;  // of log_sum_exp: x less its greatest only where that is finite
};

/// The reduce `v` as such a fold, if it is one, and nothing else needs what is summed. `uses`: count_uses.
std::optional<SumFold> sum_fold(const Graph& graph, ValueId v, const kernel::BackendCaps& caps, const Forced& forced,
                                const IdMap<ValueId, int>& uses);

/// What both kinds ask of the graph.
struct SumFoldGraph {
  const Graph& graph;
  const Forced& forced;
  const IdMap<ValueId, int>& uses;

  bool is_whole(const Node& node) const;
  const Node* only_read_by_the_sum(ValueId v) const;
  /// What the sum adds up, before it is widened for that; none where something else reads it.
  const Node* summed(const Node& sum) const;
  const Node* scalar(ValueId v, ScalarOp op) const;
  /// The one element that v is, where v is a view of one.
  ValueId element(ValueId v) const;
};

/// `sum`: a whole reduce by add of f32 or f64.
std::optional<SumFold> powers_fold(const SumFoldGraph& in, const Node& sum);
std::optional<SumFold> squares_fold(const SumFoldGraph& in, const Node& sum);

}  // namespace inlay::fuse
