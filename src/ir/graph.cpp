#include "ir/graph.h"

#include <algorithm>
#include <array>

namespace inlay {

std::string_view op_name(Op op) {
  constexpr std::array<std::string_view, 24> kNames = {
      "literal", "scalar",  "cast",     "broadcast", "reshape",   "transpose",  "flip",   "diagonal",
      "slice",   "gather",  "update",   "scatter",   "reduce",    "cumulative", "concat", "iota",
      "size",    "as_size", "compress", "library",   "host_call", "assert",     "cond",   "loop"};
  return kNames[static_cast<std::size_t>(op)];
}

IdMap<SymbolId, std::string> Graph::symbol_names() const {
  IdMap<SymbolId, std::string> names(symbols.size());
  for (SymbolId s : ids<SymbolId>(symbols.size())) names[s] = symbols[s].name;
  return names;
}

std::string_view called(const Node& node) {
  return node.op == Op::gather && !node.text.empty() ? std::string_view(node.text) : op_name(node.op);
}

std::string Graph::name_text(ValueId v) const { return values[v].name.empty() ? str("$", v.index) : values[v].name; }

std::string Graph::value_text(ValueId v) const {
  return values[v].name.empty() ? str("%", v.index) : str("%", values[v].name);
}

std::string Graph::type_text(const TensorType& type) const {
  const auto names = symbol_names();
  std::string dims = join(type.dims, ", ", [&](const Dim& dim) { return dim.to_text(names); });
  // A scalar is written without brackets.
  return type.dims.empty() ? std::string(dtype_name(type.dtype)) : str(dtype_name(type.dtype), "[", dims, "]");
}

std::string Graph::describe(ValueId v) const {
  const Node* node = node_of(v);
  TensorType as_given = type(v);
  // The result of a node is no parameter, so it needs no search.
  const auto param = node ? params.end() : std::ranges::find(params, v, &Param::value);
  if (param != params.end()) as_given.dims = given_dims(*this, *param);
  return str(value_text(v), "  ", type_text(as_given),
             node && !node->location.empty() ? str("    ", node->location.text) : std::string());
}

bool arrays_apart(std::span<const IndexItem> index) {
  const auto is_range = [](const IndexItem& item) { return item.kind == IndexItem::Kind::range; };
  const auto is_array = [](const IndexItem& item) { return item.kind == IndexItem::Kind::array; };
  if (std::ranges::none_of(index, is_array)) return false;
  const auto first = std::ranges::find_if_not(index, is_range);
  const auto last = std::find_if_not(index.rbegin(), index.rend(), is_range).base();
  return std::any_of(first, last, is_range);
}

namespace {

/// NumPy's broadcasting of the index arrays' dims; that they fit was checked when the node was built.
std::vector<Dim> array_dims(const Graph& graph, std::span<const IndexItem> index) {
  std::vector<Dim> out;
  for (const IndexItem& item : index) {
    if (item.kind != IndexItem::Kind::array) continue;
    const std::vector<Dim>& dims = graph.type(item.array).dims;
    if (dims.size() > out.size()) out.insert(out.begin(), dims.size() - out.size(), Dim(1));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      Dim& dim = out[out.size() - dims.size() + i];
      // A constant says more.
      if (!dims[i].is(1) && (dim.is(1) || dims[i].is_constant())) dim = dims[i];
    }
  }
  return out;
}

}  // namespace

std::vector<Dim> region_dims(const Graph& graph, std::span<const IndexItem> index) {
  const std::vector<Dim> arrays = array_dims(graph, index);
  const bool first = arrays_apart(index);
  std::vector<Dim> region = first ? arrays : std::vector<Dim>();
  bool placed = first;
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::Kind::range) region.push_back(item.length());
    if (item.kind != IndexItem::Kind::array || placed) continue;
    region.insert(region.end(), arrays.begin(), arrays.end());
    placed = true;
  }
  return region;
}

}  // namespace inlay
