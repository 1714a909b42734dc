#pragma once
// A network as a graph: what inlay compiles.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "onnx/model.h"
#include "support/error.h"

namespace inlay::onnx {

/// A network that was read: the weights are the graph's bound parameters, in their order.
struct Network {
  inlay::Graph graph;
  std::vector<Tensor> weights;
};

struct ImportOptions {
  /// Inputs that are the same in all calls, by name: they are no parameters, and what hangs on them (the branch of an
  /// If, a shape, axes) is known.
  std::map<std::string, Tensor> fixed;
  /// Sizes that are the same in all calls, by the names that the network, or its graph, has for them; and the seed of a
  /// network that draws, `seed`.
  std::map<std::string, int64_t> sizes;
  /// Inputs whose bytes a call may overwrite: states, which a result takes over in place.
  std::set<std::string> donated;
  /// Do convolutions write their windows as a matrix, for one product? Else they are sums that read them where they
  /// lie: less memory, and no BLAS. Weights of one or two bytes stay such.
  bool stores_windows = true;
};

/// The ranks, the axes or the branches of a network hang on what these inputs hold, or on these sizes: they are to be
/// fixed.
class NeedsFixed : public Error {
 public:
  NeedsFixed(Error error, std::vector<std::string> names) : Error(std::move(error)), names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// Errors: unsupported: ops, types or opsets that inlay does not have, all of them in one message. invalid-file: the
/// network contradicts itself. Those of the builder's ops, at the node.
Network import_model(const Model& model, const ImportOptions& options = {});

/// An op of ONNX that inlay has.
struct KnownOp {
  std::string domain, name;
  int since = 1;  // the first version of the operator set that is read
};
std::vector<KnownOp> known_ops();
inline constexpr int64_t kNewestOpset = 28;
inline constexpr int64_t kOldestOpset = 7;

}  // namespace inlay::onnx
