#include "onnx/node_order.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace inlay::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

void add_read(const Node& node, Names& names);

/// What the graph reads of the graphs around it.
void add_read(const Graph& graph, Names& names) {
  Names own, read;
  for (const Declared& input : graph.inputs) own.insert(input.name);
  for (const Tensor& tensor : graph.initializers) own.insert(tensor.name);
  for (const Node& node : graph.nodes) {
    own.insert(node.outputs.begin(), node.outputs.end());
    add_read(node, read);
  }
  for (const Declared& output : graph.outputs) read.insert(output.name);
  for (std::string_view name : read) {
    if (!own.contains(name)) names.insert(name);
  }
}

void add_read(const Node& node, Names& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph) add_read(*attribute.graph, names);
  }
}

/// Of each node, those that make what it reads.
std::vector<std::vector<std::size_t>> makers_of(std::span<const Node> nodes) {
  std::unordered_map<std::string_view, std::size_t> maker;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i].outputs) {
      if (!name.empty()) maker.emplace(name, i);
    }
  }
  std::vector<std::vector<std::size_t>> out(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Names read;
    add_read(nodes[i], read);
    for (std::string_view name : read) {
      if (const auto found = maker.find(name); found != maker.end() && found->second != i)
        out[i].push_back(found->second);
    }
    std::ranges::sort(out[i]);
  }
  return out;
}

}  // namespace

std::vector<const Node*> in_order(std::span<const Node> nodes) {
  const std::vector<std::vector<std::size_t>> makers = makers_of(nodes);
  std::vector<const Node*> out;
  std::vector<bool> is_begun(nodes.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> begun;  // nodes, and how many of their makers have been looked at
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!is_begun[i]) begun.emplace_back(i, 0);
    is_begun[i] = true;
    while (!begun.empty()) {
      auto& [node, looked_at] = begun.back();
      if (looked_at == makers[node].size()) {
        out.push_back(&nodes[node]);
        begun.pop_back();
        continue;
      }
      const std::size_t maker = makers[node][looked_at++];
      if (!is_begun[maker]) begun.emplace_back(maker, 0);
      is_begun[maker] = true;
    }
  }
  return out;
}

}  // namespace inlay::onnx
