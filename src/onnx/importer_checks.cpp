// What is wrong with a graph as a whole: ops that are not there, and names that two values have.
#include <set>
#include <utility>

#include "onnx/declared.h"
#include "onnx/importer.h"
#include "onnx/ops.h"
#include "support/counted.h"

namespace inlay::onnx {

Location place_of(const Node& node) {
  const std::string& name = !node.name.empty() ? node.name : node.outputs.empty() ? node.name : node.outputs.front();
  return {str("node `", name, "`")};
}

std::string full_name(const std::string& domain, const std::string& op) {
  return domain.empty() ? op : str(domain, ".", op);
}

/// Refuses a network for all of its ops that are not there at once, before anything is made.
void Importer::require_known_ops() {
  std::vector<std::string> missing;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<const Function*> looked_into;
  std::vector<std::pair<std::span<const Node>, Opsets>> open;  // a long chain of functions is no deep recursion
  open.emplace_back(model_.graph.nodes, opsets_);
  while (!open.empty()) {
    const auto [nodes, opsets] = open.back();
    open.pop_back();
    for (const Node& node : nodes) {
      const Function* function = function_of(node);
      if (function && looked_into.insert(function).second) {
        open.emplace_back(function->nodes, opsets_of(function->opsets, opsets));
      }
      for (const Attribute& attribute : node.attributes) {
        if (attribute.graph) open.emplace_back(attribute.graph->nodes, opsets);
      }
      if (function) continue;
      const auto version = opsets.find(node.domain);
      const int64_t number = version == opsets.end() ? 0 : version->second;
      if (!find_op(node.domain, node.op, number == 0 ? kNewestOpset : number) &&
          seen.emplace(node.domain, node.op).second) {
        const std::string name = full_name(node.domain, node.op), place = place_of(node).text;
        missing.push_back(number == 0 ? str(name, " (", place, "; of its domain it imports no version)")
                                      : str(name, " of version ", number, " (", place, ")"));
      }
    }
  }
  if (missing.empty()) return;
  std::string list;
  for (const std::string& one : missing) list += str(list.empty() ? "" : ", ", one);
  throw error(ErrorCode::unsupported, str("inlay does not have ", counted(missing.size(), "op"), " of it: ", list));
}

/// No two of them are inputs, or what nodes compute: a node that came too late would be read for another one.
void Importer::require_own_names(const Graph& graph) const {
  std::set<std::string_view> names;
  const auto add = [&](const std::string& name) {
    if (name.empty() || names.insert(name).second) return;
    throw error(ErrorCode::invalid_file, str("two values of it are called `", name, "`"));
  };
  for (const Declared& input : graph.inputs) add(input.name);
  for (const Tensor& tensor : graph.initializers) names.insert(tensor.name);  // an input's default, or a weight
  for (const Node& node : graph.nodes) std::ranges::for_each(node.outputs, add);
}

}  // namespace inlay::onnx
