#pragma once
// Arguments for a graph that nobody has chosen: sizes that its assumptions allow, elements by a seed, index arrays that
// stay within what they index.
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "oracle/reference/tensor.h"

namespace inlay::tool {

using reference::Tensor;
using Random = std::mt19937_64;

enum class Elements : uint8_t {
  plain,  // small numbers, no NaN
  nasty,  // also NaN, infinities, -0.0, large and tiny ones
};

/// What is known of the arguments beforehand, by the names of symbols and parameters.
struct Given {
  std::map<std::string, int64_t> sizes;
  std::map<std::string, Tensor> values;
  bool all_sizes = false;  // they, values and assumptions say every size
};

/// One tensor for each parameter. Sizes that are given neither by name, nor by a value, nor by an assumption are drawn,
/// or Error(wrong_argument_count). Throws Error(unknown-name) for a name that the graph does not have.
std::vector<Tensor> random_inputs(const Graph& graph, const Given& given, Random& random,
                                  Elements elements = Elements::plain);

/// The parameters whose elements index something and are not known to lie within it, by slot.
std::vector<std::size_t> index_params(const Graph& graph);

/// The sizes alone, by SymbolId; those that a node binds are 0.
std::vector<int64_t> choose_sizes(const Graph& graph, const Given& given, Random& random);

}  // namespace inlay::tool
