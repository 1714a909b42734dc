#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Expands a `matmul` with a short static side into a product and a sum, so that it joins the loops around it.
///
/// A side is short in a dot of two vectors; if the summed dim is at most `max_short_side`; or if the result has at most
/// that many elements. So `X @ b` and `X.T @ r` with few columns are part of the loop over the observations, where BLAS
/// would read X once more and need its operands in memory. The sum is in the operands' dtype, as in BLAS. A side of 30
/// is better left to BLAS: up to 32, the HSGP of the examples (2225 x 30, once each way) took 74 us, not 17; five
/// others with matrices (LKJ, marginal GP, logistic, ordinal, CAR) as long as before. Run before the last drop of dead
/// values and after simplify, which may reveal static sides.
Graph expand_short_matmul(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
