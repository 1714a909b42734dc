#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// A `matmul` with a short static side becomes a product and a sum, so that it joins the loops around it.
///
/// That is: a dot of two vectors; a summed dim of at most `max_short_side`; or a result of at most that many elements.
/// So `X @ b` and `X.T @ r` with few columns are part of the pass over the observations, where BLAS would read X once
/// more and have its operands written out. The sum is in the operands' dtype, as BLAS does it. A side of 30 is better
/// left to BLAS: up to 32, the HSGP of the examples (2225 x 30, once each way) took 74 us, not 17; five others with
/// matrices (LKJ, marginal GP, logistic, ordinal, CAR) as long as before. Run before the last drop of dead values and
/// after simplify, which may reveal static sides.
Graph expand_short_matmul(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
