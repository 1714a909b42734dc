#pragma once
// What cond and loop mean: which body runs, how often, and on what.
#include <functional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "oracle/reference/tensor.h"

namespace inlay::reference {

/// The outputs of a body for these parameters.
using RunBody = std::function<std::vector<Tensor>(const Graph& body, std::vector<Tensor> params)>;

/// `operands`: the node's. Only the branch that is taken runs.
std::vector<Tensor> run_cond(const Node& node, std::span<const Tensor> operands, const RunBody& run);

/// `count`: the value of the loop's count; `traces`: zeros, of the shapes of the traced results.
std::vector<Tensor> run_loop(const Node& node, std::span<const Tensor> operands, int64_t count,
                             std::vector<Tensor> traces, const RunBody& run);

}  // namespace inlay::reference
