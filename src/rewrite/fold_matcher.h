#pragma once
// What find_folds looks for. Inside rewrite/ only.
#include <optional>

#include "ir/graph.h"
#include "ir/traits.h"

namespace inlay::rewrite {

/// A reduction that is a state of a fold.
struct FoundFold {
  Fold fold = Fold::none;
  ValueId other;  // argmax, argmin, log_sum_exp: the reduction that is the other state; moments: the sum of x
  ValueId x;
  ValueId places;          // argmax, argmin: the numbers of the points
  bool if_finite = false;  // log_sum_exp: x less its greatest only where that is finite
};

/// What all kinds ask of the graph.
struct FoldGraph {
  const Graph& graph;
  const IdMap<ValueId, int>& uses;

  bool is_whole(const Node& node) const;
  const Node* only_read_by_the_sum(ValueId v) const;
  /// What the sum adds up, before it is widened for that; none where something else reads it.
  const Node* summed(const Node& sum) const;
  const Node* scalar(ValueId v, ScalarOp op) const;
  /// The one element that v is, where v is a view of one.
  ValueId element(ValueId v) const;
};

/// `reduce`: one by min, into i64.
std::optional<FoundFold> match_argmax(const FoldGraph& in, const Node& reduce);
/// `sum`: a whole reduce by add of f32 or f64.
std::optional<FoundFold> match_log_sum_exp(const FoldGraph& in, const Node& sum);
std::optional<FoundFold> match_moments(const FoldGraph& in, const Node& sum);

}  // namespace inlay::rewrite
