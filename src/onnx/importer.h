#pragma once
// Reads the nodes of a network in their order: each by its row of the op table, or as a function of the model.
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "onnx/broadcast.h"
#include "onnx/import.h"
#include "onnx/scope.h"

namespace inlay::onnx {

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options);

  Network run();

  /// Reads the initializers and nodes of a graph, whose inputs have their names in `scope` already.
  void read(const Graph& graph, Scope& scope);
  /// The same, and returns its outputs, as values of the scope's frame.
  std::vector<ValueId> graph(const Graph& graph, Scope& scope);
  /// What `name` stands for in `scope`, with its values in the scope's frame. Errors: invalid-file: nothing.
  Thing thing(const std::string& name, Scope& scope);
  /// The value that `name` has in `scope`, in the scope's frame. Errors: it is a sequence, or an empty optional.
  ValueId value(const std::string& name, Scope& scope);
  /// What all draws of the network hang on, a u64 of the network's own frame: an argument of its own, `seed`, behind
  /// the network's inputs, or what the options fix it to.
  ValueId seed();
  /// Is it a constant whose elements inlay has no type for? The op that takes it has them in a wider type.
  bool is_narrow(const std::string& name, Scope& scope) const;
  bool stores_windows() const { return options_.stores_windows; }
  bool is_defined(const std::string& name, Scope& scope) const { return scope.find(name).scope != nullptr; }

  /// The inputs of the network, and the sizes of inputs, on which a value of `frame` hangs, by name.
  struct Origins {
    std::set<std::string> inputs, sizes;
    bool empty() const { return inputs.empty() && sizes.empty(); }
  };
  Origins origins_of(ValueId v, Frame& frame) const;

  BroadcastSizes broadcast_sizes;
  uint64_t num_draws = 0;  // each has a number of its own; what is read once more has the same

 private:
  using FunctionName = std::tuple<std::string_view, std::string_view, std::string_view>;  // domain, name, overload
  using Opsets = std::map<std::string, int64_t, std::less<>>;

  class Deeper;

  Error error(ErrorCode code, const std::string& what) const;
  void spend(int64_t nodes);
  Opsets opsets_of(std::span<const OpsetVersion> versions, const Opsets& otherwise) const;
  const Function* function_of(const Node& node) const;
  int64_t version_of(const Node& node) const;
  void require_known_ops();
  void require_own_names(const Graph& graph) const;
  bool is_input(const std::string& name) const;
  void inputs();
  void require_fixed() const;
  void input(const Declared& declared);
  void fixed_input(const Declared& declared, const Tensor& tensor);
  std::string name_in_graph(const std::string& size);
  Dim symbol(const std::string& name, std::optional<int64_t> of_fixed = {});
  void nodes(std::span<const Node> nodes, Scope& scope);
  void node(const Node& node, Scope& scope);
  void call(const Function& function, const Node& node, Scope& scope);
  ValueId constant(const Tensor& tensor, Frame& frame);

  const Model& model_;
  const ImportOptions& options_;
  GraphBuilder builder_;
  Frame root_;
  Scope scope_;
  Opsets opsets_;
  std::map<FunctionName, const Function*> functions_;
  std::unordered_map<std::string, Dim> symbols_;                   // by the network's names
  std::set<std::string> size_texts_;                               // that inputs have, as the network writes them
  std::unordered_map<std::string, int> size_names_;                // of the graph's, how many wanted it
  std::set<std::string> fixed_sizes_;                              // of the options, those that an input has
  std::unordered_map<const Tensor*, ValueId> constants_;           // of the root
  std::vector<std::unique_ptr<const std::vector<Node>>> inlined_;  // of functions: what scopes point into
  std::vector<Tensor> weights_;
  Location at_;                                        // the node that is read
  std::unordered_map<const Tensor*, Tensor> widened_;  // constants
  bool takes_narrow_ = false;                          // of the node that is read
  std::string seed_name_ = "seed";
  ValueId seed_;  // once a node draws
  int depth_ = 0;
  int64_t nodes_left_;
};

}  // namespace inlay::onnx
