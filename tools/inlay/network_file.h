#pragma once
// Networks in ONNX files, as programs whose bound parameters have arrays.
#include <string>
#include <string_view>

#include "network_flags.h"
#include "onnx/import.h"
#include "oracle/reference/tensor.h"

namespace inlay::tool {

/// Does its name say that the file holds a network, or the first bytes of a file of any name?
bool is_network(const std::string& path);
/// No text of a program begins so.
bool looks_like_network(std::string_view bytes);

/// What is fixed is an input, `rate=16000` or `rate=rate.npy`, or a size, `batch=1`. Throws Error.
onnx::Network read_network(const std::string& path, const NetworkFlags& flags);
/// The graph alone, for whoever runs nothing: no weights are read.
Graph read_network_graph(const std::string& path, const NetworkFlags& flags);

/// A weight, as an array of its own.
reference::Tensor array_of(const onnx::Tensor& weight);

}  // namespace inlay::tool
