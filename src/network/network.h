#pragma once
// A network that is ready to be compiled: its graph, and the arrays that its bound parameters stand for.
#include "onnx/import.h"

namespace inlay::network {

/// Reads the network's nodes, and computes now what it computes of weights alone: products and sums of them, scales of
/// a batch norm, weights that are kept as integers. Each bound parameter has a name of its own.
///
/// Errors: those of import_model, and of a computation that fails.
onnx::Network prepare(const onnx::Model& model, const onnx::ImportOptions& options = {});

/// The graph alone: of the weights only what decides how it looks is read.
Graph prepared_graph(const onnx::Model& model, const onnx::ImportOptions& options = {});

}  // namespace inlay::network
