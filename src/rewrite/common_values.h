#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Computes equal expressions once: same op, same operands, same indices, literals equal bit by bit.
///
/// Operands of commutative ops compare in any order. Host calls and asserts are never shared: a host call may return
/// something else each time, and an assert stays where its author put it. One sweep; the first of equals stays.
Graph share_common_values(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
