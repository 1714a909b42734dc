#pragma once
// Networks in ONNX files: read to a graph with weights, and compiled.
//
//   const inlay::OnnxFunction f = inlay::compile_onnx("net.onnx");
//   const std::vector<inlay::Array> results = f({image});
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "inlay/buffer.h"
#include "inlay/compile.h"
#include "inlay/executable.h"
#include "inlay/graph.h"

namespace inlay {

/// A network as a graph whose bound parameters are its weights. These lie in the file, which is mapped for as long as
/// somebody holds the network.
struct OnnxNetwork {
  Graph graph;
  std::map<std::string, ArrayRef> weights;  // by the names of bound parameters: ExportOptions::bound takes them
  std::shared_ptr<const void> owner;        // of the weights' bytes
};

/// What a caller says of a network's inputs, by name, and how its convolutions are computed.
struct OnnxOptions {
  /// Inputs and sizes that are the same in all calls: such an input is no parameter. Ranks, axes and branches may hang
  /// on them.
  std::map<std::string, ArrayRef> fixed;
  std::map<std::string, int64_t> sizes;
  /// Inputs whose bytes a call may overwrite, such as the state of a recurrent network: a result may take them over.
  std::set<std::string> donated;
  /// Do convolutions write their windows as a matrix, for one product? Else they are sums that read them where they
  /// lie, for small devices: less memory, and no BLAS. Weights of one or two bytes stay such.
  bool stores_windows = true;
};

/// Reads a network. What it computes of weights alone is computed now.
///
/// Throws Error: invalid_file for what is no network; unsupported, which names every op that inlay does not have, or
/// the inputs that are to be fixed; and what the ops of the network throw, at the node.
OnnxNetwork read_onnx(const std::filesystem::path& path, const OnnxOptions& inputs = {});

/// A compiled network: an Executable that brings its weights.
class OnnxFunction {
 public:
  /// The inputs that a call takes, in order, and the outputs.
  const std::vector<TensorInfo>& params() const { return params_; }
  const std::vector<TensorInfo>& results() const { return executable_.results(); }

  /// As Executable's calls.
  std::vector<Array> operator()(std::span<const ArrayRef> arguments) const;
  std::vector<Array> operator()(std::initializer_list<ArrayRef> arguments) const {
    return (*this)(std::span<const ArrayRef>(arguments.begin(), arguments.size()));
  }
  void into(std::span<const ArrayRef> arguments, std::span<const ArrayOut> results) const;

  OnnxFunction(const OnnxNetwork& network, const CompileOptions& options);

 private:
  std::vector<ArrayRef> with_weights(std::span<const ArrayRef> arguments) const;

  Executable executable_;
  std::vector<TensorInfo> params_;
  std::vector<ArrayRef> weights_;  // in the order of the bound parameters
  std::shared_ptr<const void> owner_;
};

OnnxFunction compile_onnx(const std::filesystem::path& path, const OnnxOptions& inputs = {},
                          const CompileOptions& options = {});

}  // namespace inlay
