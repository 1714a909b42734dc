#pragma once
// Networks in ONNX files, as programs whose bound parameters have arrays.
#include <string>
#include <vector>

#include "ir/graph.h"
#include "network_flags.h"
#include "oracle/reference/tensor.h"

namespace inlay::tool {

/// A graph, and the arrays of its bound parameters, in their order.
struct NetworkFile {
  Graph graph;
  std::vector<reference::Tensor> weights;
};

/// Does the name say that the file holds a network?
bool is_network(const std::string& path);

/// What is fixed is an input, `rate=16000` or `rate=rate.npy`, or a size, `batch=1`. Throws Error.
NetworkFile read_network(const std::string& path, const NetworkFlags& flags);

}  // namespace inlay::tool
