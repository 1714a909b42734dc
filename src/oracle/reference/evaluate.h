#pragma once
// The first oracle: what a Graph means, before anything is fused or planned.
//
// Every value is an array of its own, every op a plain loop over all of it, in program order. It is slow and easy to
// believe, and shares no code with the stages that it judges. It is no backend.
#include <functional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "oracle/reference/tensor.h"

namespace inlay::reference {

/// What a host_call calls: operands in, results out.
using HostFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// The outputs. `inputs`: one for each parameter, in order. `host_functions`: by Node::host_function.
/// Throws Error as a call of the compiled function would: arguments that do not fit, sizes that do not agree, an index
/// out of bounds, a failed assert, ...
std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                             std::span<const HostFunction> host_functions = {});

/// Is told of each result as soon as it is made, those in the bodies of conds and loops too, and may change it: so a
/// test learns how much of a value is rounding.
using Observer = std::function<void(const Graph&, ValueId, Tensor&)>;

/// Every value, by ValueId: to see where two evaluators part.
IdMap<ValueId, Tensor> evaluate_all(const Graph& graph, std::span<const Tensor> inputs,
                                    std::span<const HostFunction> host_functions = {}, const Observer& observer = {});

/// The sizes, by SymbolId, that these inputs bind; those bound by nodes are 0. Throws where an input does not fit.
std::vector<int64_t> bind_symbols(const Graph& graph, std::span<const Tensor> inputs);

}  // namespace inlay::reference
