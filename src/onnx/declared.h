#pragma once
// What a graph says of its values beside what its nodes make of them.
#include <string>

#include "onnx/call.h"

namespace inlay::onnx {

/// "node `x`": where it stands, in messages.
Location place_of(const Node& node);
/// "domain.Op"; ONNX's own ops have no domain.
std::string full_name(const std::string& domain, const std::string& op);

/// Throws Error where a graph says of a value, which is there by now, that it has another type than its node gives it
/// (wrong-dtype), or another number of axes (wrong-rank); where the numbers hold (`has_sizes`), also where a size of what
/// the network returns is another number (shape-mismatch).
void require_as_declared(const Graph& graph, Scope& scope, bool has_sizes);

/// The outputs of a node have sizes that stay short: a long one is found when the network runs, from the node on.
void shorten_sizes(Call& c);

}  // namespace inlay::onnx
