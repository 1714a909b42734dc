#pragma once
// The order in which the nodes of a graph can be read.
#include <span>
#include <vector>

#include "onnx/model.h"

namespace inlay::onnx {

/// The nodes, each behind those that make what it, or a graph within it, reads; else in the order of the file. ONNX
/// wants files to have that order, but some tools (onnxruntime's quantiser, with an If) write others, and onnxruntime
/// reads them. Of nodes that wait for each other one comes first.
std::vector<const Node*> in_order(std::span<const Node> nodes);

}  // namespace inlay::onnx
