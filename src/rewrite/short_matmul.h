#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Expands a `matmul` with a short static side, or the two of a regression, into a product and a sum, so that it joins
/// the loops around it.
///
/// A side is short in a dot of two vectors; if the summed dim is at most `max_short_side`; or if the result has at most
/// that many elements. So `X @ b` and `X.T @ r` with few columns are part of the loop over the observations, where BLAS
/// would read X once more and need its operands in memory. The sum is in the operands' dtype, as in BLAS.
///
/// Those of a regression are `X @ b` and `X.T @ r` where a row of r is made of the same row of `X @ b`, whatever the
/// number of rows, vectors that are matrices of one row or column among them: one loop passes the rows of X once, and
/// runs on threads. The log density of a logistic regression and its gradient on one thread, by BLAS and so: 1e6 x
/// 20 13.3, 9.1 ms; 1e5 x 60 4.0, 3.8 ms; 2000 x 60 25.7, 25.6 us; 2000 x 20 10.6, 11.3 us. Long rows lose where X
/// stays in a cache (2000 x 500 170, 195 us), so those that are known to be longer than 256 are BLAS's. BLAS may run
/// each of its calls on all CPUs, which this does where the function is compiled for threads. Run before the last drop
/// of dead values and after simplify, which may reveal static sides.
Graph expand_short_matmul(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
