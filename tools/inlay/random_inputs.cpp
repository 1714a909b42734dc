#include "random_inputs.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace inlay::tool {
namespace {

int64_t draw(Random& random, int64_t min, int64_t max) {
  return std::uniform_int_distribution<int64_t>(min, max)(random);
}

bool is_param(const Graph& graph, ValueId v) {
  return std::ranges::any_of(graph.params, [&](const Param& param) { return param.value == v; });
}

/// The symbol of the one unknown in left == right, where it occurs once, alone, with factor 1 or -1, and its size.
std::optional<std::pair<SymbolId, int64_t>> solve(const Dim& left, const Dim& right, const std::vector<bool>& known,
                                                  const std::vector<int64_t>& sizes) {
  const Dim difference = left - right;
  std::optional<Dim::Term> unknown;
  for (const Dim::Term& term : difference.terms()) {
    for (const Dim::Atom& atom : term.factors) {
      const bool open = atom.kind == Dim::Atom::Kind::symbol && !known[atom.symbol.index];
      if (!open) continue;
      if (unknown || term.factors.size() != 1 || std::abs(term.coefficient) != 1) return std::nullopt;
      unknown = term;
    }
  }
  if (!unknown) return std::nullopt;
  const SymbolId symbol = unknown->factors[0].symbol;
  std::vector<int64_t> with_zero = sizes;
  with_zero[symbol.index] = 0;
  return std::pair(symbol, -unknown->coefficient * difference.evaluate(with_zero));
}

/// For each value that is used as an index array: what it indexes. Through views and casts back to the parameters.
IdMap<ValueId, std::vector<Dim>> indexed_dims(const Graph& graph) {
  IdMap<ValueId, std::vector<Dim>> limits(graph.values.size());
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[NodeId(i)];
    for (std::size_t axis = 0; axis < node.index.size(); ++axis) {
      if (node.index[axis].kind != IndexItem::Kind::array) continue;
      limits[node.index[axis].array].push_back(graph.type(node.operands[0]).dims[axis]);
    }
    for (const auto& body : node.region.bodies) {
      const IdMap<ValueId, std::vector<Dim>> inside = indexed_dims(*body);
      const std::size_t first_operand = node.op == Op::cond ? 1 : 0, first_param = node.op == Op::cond ? 0 : 1;
      for (std::size_t i = first_operand; i < node.operands.size(); ++i) {
        const std::vector<Dim>& found = inside[body->params[i + first_param - first_operand].value];
        limits[node.operands[i]].insert(limits[node.operands[i]].end(), found.begin(), found.end());
      }
    }
    const bool passes_on = node.op == Op::cast || node.op == Op::broadcast || node.op == Op::reshape ||
                           node.op == Op::transpose || node.op == Op::flip || node.op == Op::slice ||
                           node.op == Op::gather || node.op == Op::assert_;
    if (!passes_on || node.results.size() != 1) continue;
    for (const Dim& limit : limits[node.results[0]]) limits[node.operands[0]].push_back(limit);
  }
  return limits;
}

class InputMaker {
 public:
  InputMaker(const Graph& graph, const Given& given, Random& random, Elements elements)
      : graph_(graph), given_(given), random_(random), elements_(elements) {}

  std::vector<int64_t> sizes() {
    std::vector<int64_t> sizes(graph_.symbols.size(), 0);
    std::vector<bool> known(graph_.symbols.size(), false);
    check_names();
    for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
      const Symbol& symbol = graph_.symbols[s];
      const auto size = given_.sizes.find(symbol.name);
      if (!is_param(graph_, symbol.source)) {
        known[s.index] = true;  // a node's
        if (size != given_.sizes.end()) sizes[s.index] = size->second;
        continue;
      }
      const auto value = given_.values.find(graph_.values[symbol.source].name);
      if (value != given_.values.end() && symbol.axis < value->second.rank()) {
        sizes[s.index] = value->second.dims[symbol.axis];
        if (size != given_.sizes.end() && size->second != sizes[s.index]) {
          throw Error(ErrorCode::shape_mismatch, {},
                      str(symbol.name, "=", size->second, " is given, but dim ", symbol.axis, " of ",
                          graph_.value_text(symbol.source), " is ", sizes[s.index]));
        }
      } else if (size != given_.sizes.end()) {
        sizes[s.index] = size->second;
      } else {
        continue;
      }
      known[s.index] = true;
    }
    for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
      solve_all(sizes, known);
      if (known[s.index]) continue;
      if (given_.all_sizes) throw no_size(graph_.symbols[s]);
      constexpr int64_t kSizes[] = {1, 2, 3, 5, 8};
      sizes[s.index] = kSizes[draw(random_, 0, 4)];
      known[s.index] = true;
    }
    return sizes;
  }

  std::vector<Tensor> inputs() {
    const std::vector<int64_t> sizes = this->sizes();
    const IdMap<ValueId, std::vector<Dim>> limits = indexed_dims(graph_);
    std::vector<Tensor> inputs;
    for (const Param& param : graph_.params) {
      const ValueInfo& value = graph_.values[param.value];
      const auto given = given_.values.find(value.name);
      if (given != given_.values.end()) {
        inputs.push_back(given->second);
        continue;
      }
      std::vector<int64_t> dims;
      for (const Dim& dim : given_dims(graph_, param)) dims.push_back(size_of(value, dim, sizes));
      inputs.push_back(tensor(value.type.dtype, std::move(dims), range_of(param, limits[param.value], sizes)));
      if (param.facts.sorted) sort(inputs.back());
    }
    return inputs;
  }

 private:
  static int64_t size_of(const ValueInfo& value, const Dim& dim, std::span<const int64_t> sizes) {
    const int64_t size = dim.evaluate(sizes);
    if (size < 0) throw Error(ErrorCode::negative_size, {}, str("%", value.name, ": a size of ", size));
    return size;
  }

  struct Range {
    int64_t min, max;
  };

  Error no_size(const Symbol& symbol) const {
    return Error(ErrorCode::wrong_argument_count, {}, str("nothing says the size ", symbol.name))
        .note("parameter", str(graph_.value_text(symbol.source), "  ", graph_.type_text(graph_.type(symbol.source))));
  }

  Error unknown_size(const std::string& name) const {
    std::vector<std::string> sizes;
    for (const Symbol& symbol : graph_.symbols) sizes.push_back(symbol.name);
    return Error(ErrorCode::unknown_name, {}, str("the program has no size and no parameter called ", name))
        .help(sizes.empty() ? "it has no sizes" : str("its sizes are ", join(sizes, ", ")));
  }

  void check_names() const {
    for (const auto& [name, size] : given_.sizes) {
      const bool found = std::ranges::any_of(graph_.symbols, [&](const Symbol& symbol) { return symbol.name == name; });
      if (!found) throw unknown_size(name);
    }
    for (const auto& [name, value] : given_.values) {
      const bool found =
          std::ranges::any_of(graph_.params, [&](const Param& p) { return graph_.values[p.value].name == name; });
      if (!found) throw Error(ErrorCode::unknown_name, {}, str("the program has no parameter ", name));
    }
  }

  /// What assumptions give, until they give nothing more.
  void solve_all(std::vector<int64_t>& sizes, std::vector<bool>& known) const {
    for (bool again = true; again;) {
      again = false;
      for (const auto& [left, right] : graph_.assumptions) {
        const auto solved = solve(left, right, known, sizes);
        if (!solved) continue;
        sizes[solved->first.index] = std::max<int64_t>(0, solved->second);
        known[solved->first.index] = true;
        again = true;
      }
    }
  }

  static std::optional<Range> range_of(const Param& param, const std::vector<Dim>& limits,
                                       const std::vector<int64_t>& sizes) {
    if (param.facts.has_range) return Range{param.facts.min, param.facts.max};
    if (limits.empty()) return std::nullopt;
    int64_t extent = std::numeric_limits<int64_t>::max();
    for (const Dim& limit : limits) extent = std::min(extent, limit.evaluate(sizes));
    if (extent == 0) return Range{0, 0};  // any index is an error, and should be
    return Range{-extent, extent - 1};
  }

  Tensor tensor(DType dtype, std::vector<int64_t> dims, std::optional<Range> range) {
    Tensor out = Tensor::zeros(dtype, std::move(dims));
    if (dtype == DType::opaque) return any_bits(std::move(out));
    visit_element_type(dtype, [&](auto zero) {
      for (int64_t i = 0; i < out.num_elements(); ++i) out.set(i, element<decltype(zero)>(range));
    });
    return out;
  }

  template <class T>
  T element(const std::optional<Range>& range) {
    using Limits = std::numeric_limits<T>;
    const bool nasty = elements_ == Elements::nasty && !range && draw(random_, 0, 7) == 0;
    if constexpr (kIsComplex<T>) {
      const auto re = element<typename T::value_type>(range);
      return T(re, element<typename T::value_type>(range));
    } else if constexpr (kIsHalf<T>) {
      return stored<T>(element<float>(range));
    } else if constexpr (std::is_floating_point_v<T>) {
      // Not the largest: whether a sum overflows would depend on its order.
      const T large = sizeof(T) == 8 ? T(1e30) : T(1e6);
      const T special[] = {Limits::quiet_NaN(),
                           Limits::infinity(),
                           -Limits::infinity(),
                           T(-0.0),
                           T(0),
                           large,
                           Limits::min(),
                           Limits::denorm_min(),
                           T(1),
                           T(-1)};
      if (nasty) return special[draw(random_, 0, 9)];
      return static_cast<T>(std::uniform_real_distribution<double>(-2, 2)(random_));
    } else if constexpr (std::is_same_v<T, bool>) {
      return draw(random_, 0, 1) == 1;
    } else {
      if (range) {
        const int64_t min = std::is_signed_v<T> ? range->min : std::max<int64_t>(0, range->min);
        return static_cast<T>(draw(random_, min, std::max(min, range->max)));
      }
      const T special[] = {Limits::min(), Limits::max(), T(0), static_cast<T>(-1)};
      if (nasty) return special[draw(random_, 0, 3)];
      return static_cast<T>(draw(random_, std::is_signed_v<T> ? -5 : 0, 9));
    }
  }

  Tensor any_bits(Tensor out) {
    for (std::byte& byte : out.data) byte = static_cast<std::byte>(draw(random_, 0, 63));  // no NaN among them
    return out;
  }

  static void sort(Tensor& tensor) {
    visit_element_type(tensor.dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {  // facts are known of integers only
        std::vector<T> elements;
        for (int64_t i = 0; i < tensor.num_elements(); ++i) elements.push_back(tensor.get<T>(i));
        std::sort(elements.begin(), elements.end());
        for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.set<T>(i, elements[i]);
      }
    });
  }

  const Graph& graph_;
  const Given& given_;
  Random& random_;
  const Elements elements_;
};

}  // namespace

std::vector<Tensor> random_inputs(const Graph& graph, const Given& given, Random& random, Elements elements) {
  return InputMaker(graph, given, random, elements).inputs();
}

std::vector<std::size_t> index_params(const Graph& graph) {
  const IdMap<ValueId, std::vector<Dim>> limits = indexed_dims(graph);
  std::vector<std::size_t> out;
  for (std::size_t p = 0; p < graph.params.size(); ++p) {
    if (!limits[graph.params[p].value].empty() && !graph.params[p].facts.has_range) out.push_back(p);
  }
  return out;
}

std::vector<int64_t> choose_sizes(const Graph& graph, const Given& given, Random& random) {
  return InputMaker(graph, given, random, Elements::plain).sizes();
}

}  // namespace inlay::tool
