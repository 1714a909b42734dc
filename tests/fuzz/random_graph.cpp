#include "random_graph.h"

#include "graph_maker.h"

namespace inlay::fuzz {
namespace {

constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 8, 9, 17, 33};
constexpr const char* kSymbolNames[] = {"n", "m", "k"};

}  // namespace

GraphMaker::GraphMaker(Random& random, const RandomGraphOptions& options) : random_(random), options_(options) {
  for (int i = 0; i < 3; ++i) sizes_.push_back(of(kSizes));
}

RandomGraph GraphMaker::make() {
  const int num_params = static_cast<int>(draw(1, 4));
  for (int i = 0; i < num_params; ++i) new_param(of(kDTypes), dims_for_param());
  const int64_t num_nodes = draw(1, options_.most_nodes);
  for (int64_t i = 0; i < num_nodes * 4 && nodes_ < num_nodes; ++i) step();
  add_outputs();
  RandomGraph out{std::move(builder_).finish(), {}};
  for (SymbolId s : ids<SymbolId>(out.graph.symbols.size()))
    out.given.sizes[out.graph.symbols[s].name] = size_of(Dim::symbol(s));
  return out;
}

void GraphMaker::add_outputs() {
  std::vector<bool> used(builder_.graph().values.size(), false);
  for (const Node& node : builder_.graph().nodes) {
    for (ValueId v : node.operands) used[v.index] = true;
  }
  for (const Entry& entry : pool_) {
    if (!used[entry.v.index] || chance(10)) builder_.output(entry.v);
  }
}

Dim GraphMaker::symbol() {
  const auto which = static_cast<std::size_t>(draw(0, 2));
  if (!symbols_[which]) {
    symbols_[which] = builder_.symbol(kSymbolNames[which]);
    symbol_sizes_.push_back(sizes_[which]);
  }
  return *symbols_[which];
}

bool GraphMaker::are_of_params(const std::vector<Dim>& dims) const {
  const auto is_late = [&](SymbolId s) {
    return builder_.graph().node_of(builder_.graph().symbols[s].source) != nullptr;
  };
  return std::ranges::none_of(dims, [&](const Dim& dim) { return std::ranges::any_of(dim.symbols(), is_late); });
}

Dim GraphMaker::dim_for_param() {
  if (chance(70)) return symbol();
  return draw(1, 4);
}

std::vector<Dim> GraphMaker::dims_for_param() {
  const int64_t kind = draw(0, 99);
  const int rank = kind < 15 ? 0 : kind < 65 ? 1 : kind < 90 ? 2 : 3;
  std::vector<Dim> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(dim_for_param());
  return dims;
}

Dim GraphMaker::known_dim() {
  const ValueId v = of(pool_).v;
  if (type(v).dims.empty() || chance(30)) return draw(1, 3);
  return of(type(v).dims);
}

ValueId GraphMaker::new_param(DType dtype, std::vector<Dim> dims) {
  TensorType type{dtype, std::move(dims)};
  std::string name = str("p", pool_.size());
  const ValueId v = dtype != DType::opaque && chance(20) ? builder_.donated(std::move(name), std::move(type))
                                                         : builder_.param(std::move(name), std::move(type));
  pool_.push_back({v, true});
  return v;
}

void GraphMaker::add(ValueId v, bool exact) {
  ++nodes_;
  for (Entry& entry : pool_) {
    if (entry.v == v) return;  // it changed nothing
  }
  pool_.push_back({v, exact});
}

ValueId GraphMaker::literal(DType dtype) {
  constexpr double kValues[] = {0, 1, 2, 3, 0.5, -1, -2.5};
  if (is_complex(dtype)) return builder_.literal(Literal::of_float(dtype, of(kValues), of(kValues)));
  const double value = is_float(dtype) ? of(kValues) : static_cast<double>(draw(0, dtype == DType::boolean ? 1 : 3));
  return builder_.literal(Literal::of(dtype, value));
}

bool GraphMaker::stretches(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const Dim &x = a[a.size() - i], &y = b[b.size() - i];
    if (!(x == y || x.is(1) || y.is(1))) return false;
  }
  return true;
}

bool GraphMaker::stretches_to(const std::vector<Dim>& from, const std::vector<Dim>& to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    const Dim &x = from[from.size() - i], &y = to[to.size() - i];
    if (!(x == y || x.is(1))) return false;
  }
  return true;
}

void GraphMaker::step() {
  using Maker = void (GraphMaker::*)();
  constexpr Maker kMakers[] = {&GraphMaker::scalar,     &GraphMaker::scalar,
                               &GraphMaker::scalar,     &GraphMaker::scalar,
                               &GraphMaker::scalar,     &GraphMaker::cast,
                               &GraphMaker::broadcast,  &GraphMaker::reshape,
                               &GraphMaker::transpose,  &GraphMaker::flip,
                               &GraphMaker::slice,      &GraphMaker::slice,
                               &GraphMaker::gather,     &GraphMaker::gather,
                               &GraphMaker::update,     &GraphMaker::update,
                               &GraphMaker::scatter,    &GraphMaker::scatter,
                               &GraphMaker::reduce,     &GraphMaker::reduce,
                               &GraphMaker::reduce,     &GraphMaker::concat,
                               &GraphMaker::concat,     &GraphMaker::iota,
                               &GraphMaker::size,       &GraphMaker::matmul,
                               &GraphMaker::host_call,  &GraphMaker::assert_that,
                               &GraphMaker::cumulative, &GraphMaker::cumulative,
                               &GraphMaker::compress,   &GraphMaker::where,
                               &GraphMaker::arange,     &GraphMaker::factorization,
                               &GraphMaker::rows,       &GraphMaker::cond,
                               &GraphMaker::loop,       &GraphMaker::diagonal,
                               &GraphMaker::moved,      &GraphMaker::placed,
                               &GraphMaker::reduced,    &GraphMaker::matmul_of_parts,
                               &GraphMaker::late_slice, &GraphMaker::fold,
                               &GraphMaker::stretched,  &GraphMaker::products_of_bytes};
  (this->*of(kMakers))();
}

RandomGraph random_graph(Random& random, const RandomGraphOptions& options) {
  return GraphMaker(random, options).make();
}

}  // namespace inlay::fuzz
