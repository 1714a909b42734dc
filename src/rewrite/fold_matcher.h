#pragma once
// The patterns of find_folds. Inside rewrite/ only.
#include <optional>

#include "ir/graph.h"
#include "ir/traits.h"

namespace inlay::rewrite {

/// A reduction that is a state of a fold.
struct FoundFold {
  Fold fold = Fold::none;
  ValueId other;  // argmax, argmin, log_sum_exp: the reduction that is the other state; moments: the sum of x
  ValueId x;
  ValueId places;          // argmax, argmin: the indices of the points
  bool if_finite = false;  // log_sum_exp: the maximum is subtracted from x only if it is finite
};

/// Questions about the graph that all patterns ask.
struct FoldGraph {
  const Graph& graph;
  const IdMap<ValueId, int>& uses;

  bool is_whole(const Node& node) const;
  const Node* only_read_by_the_sum(ValueId v) const;
  /// Returns the summand before it is widened; null if something else reads it.
  const Node* summed(const Node& sum) const;
  const Node* scalar(ValueId v, ScalarOp op) const;
  /// Returns the one element of which v is a view.
  ValueId element(ValueId v) const;
};

/// Matches argmax or argmin. `reduce` is a minimum of i64.
std::optional<FoundFold> match_argmax(const FoldGraph& in, const Node& reduce);
/// Matches log-sum-exp. `sum` is an add reduction of a whole f32 or f64 array.
std::optional<FoundFold> match_log_sum_exp(const FoldGraph& in, const Node& sum);
std::optional<FoundFold> match_moments(const FoldGraph& in, const Node& sum);

}  // namespace inlay::rewrite
