#include "ir/verify.h"

#include <algorithm>

#include "ir/region.h"
#include "ir/traits.h"
#include "ir/verifier.h"

namespace inlay::verifier {

namespace {

struct Arity {
  std::size_t minimum = 0, maximum = 0;
};
constexpr std::size_t kAny = ~std::size_t{0};

Arity arity_of(const Node& node) {
  switch (node.op) {
    case Op::literal:
    case Op::iota:
    case Op::size: return {0, 0};
    case Op::scalar:
      return {static_cast<std::size_t>(facts(node.scalar).arity), static_cast<std::size_t>(facts(node.scalar).arity)};
    case Op::cast:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::flip:
    case Op::diagonal:
    case Op::slice:
    case Op::cumulative:
    case Op::as_size: return {1, 1};
    case Op::reduce: return {facts(node.fold).num_operands(), facts(node.fold).num_operands()};
    case Op::compress: return {1, kAny};
    case Op::gather: return {2, kAny};
    case Op::update: return {2, 2};
    case Op::scatter: return {3, kAny};
    case Op::concat: return {1, kAny};
    case Op::library:
      return {facts(node.library).signature.operands.size(), facts(node.library).signature.operands.size()};
    case Op::assert_: return {2, 6};
    case Op::host_call: return {0, kAny};
    case Op::cond: return {1, kAny};
    case Op::loop: return {0, kAny};
  }
  return {};
}

/// Handles, order and symbols: what the rules of the ops rely on.
class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph),
        sizes_(graph),
        findings_(graph),
        defined_(graph.values.size(), false),
        bound_(graph.symbols.size(), false) {
    for (SymbolId s : ids<SymbolId>(std::min(graph.num_given, graph.symbols.size()))) bound_[s] = true;
  }

  std::vector<Diagnostic> run() && {
    for (const Param& param : graph_.params) {
      if (check_handle(param.value, "a parameter")) define(param.value);
    }
    for (const Param& param : graph_.params) {
      if (!valid(param.value)) continue;
      check_symbols(param.value);
      check_given(param);
    }
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) node(n);
    for (const Output& output : graph_.outputs) {
      if (check_handle(output.value, "an output")) check_defined(output.value, "an output");
    }
    for (ValueId v : ids<ValueId>(graph_.values.size())) {
      if (!defined_[v]) findings_.fail(v, "is made by nothing");
    }
    for (const DimCheck& check : graph_.checks) {
      if (!check.node.valid() || check.node.index < graph_.nodes.size()) continue;
      findings_.fail(graph_.name, check.location, str("the check of ", check.message, " stands at no node"));
    }
    return std::move(findings_).all();
  }

 private:
  bool valid(ValueId v) const { return v.index < graph_.values.size(); }

  bool check_handle(ValueId v, const char* what) {
    if (valid(v)) return true;
    findings_.fail(graph_.name, {}, str(what, " is no value of the graph"));
    return false;
  }

  void check_defined(ValueId v, const std::string& user) {
    if (!defined_[v]) findings_.fail(v, str("is used by ", user, " before it is made"));
  }

  void define(ValueId v) {
    if (defined_[v]) findings_.fail(v, "is made twice");
    defined_[v] = true;
    for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
      const Symbol& symbol = graph_.symbols[s];
      if (symbol.source != v) continue;
      if (!binds(v, symbol, Dim::symbol(s))) {
        const std::string who = symbol.axis == Symbol::kOfValue ? "" : str("axis ", symbol.axis, " ");
        findings_.fail(v, str(who, "does not bind symbol ", symbol.name));
      }
      bound_[s] = true;
    }
  }

  /// Are the dims that it is given by its own, once what is assumed equal is one size?
  void check_given(const Param& param) {
    if (param.given.empty()) return;
    const auto assumed_equal = [&](const Dim& a, const Dim& b) { return sizes_.unified(a) == sizes_.unified(b); };
    findings_.require(std::ranges::equal(param.given, graph_.type(param.value).dims, assumed_equal), param.value,
                      "is given by dims that are not assumed to be equal to its own");
  }

  /// Has the value the symbol as a whole dim, or is it the symbol's number?
  bool binds(ValueId v, const Symbol& symbol, const Dim& as_dim) const {
    const auto param = std::ranges::find(graph_.params, v, &Param::value);
    const std::vector<Dim>& dims = param == graph_.params.end() ? graph_.type(v).dims : given_dims(graph_, *param);
    if (symbol.axis != Symbol::kOfValue) {
      return symbol.axis >= 0 && symbol.axis < static_cast<int>(dims.size()) && dims[symbol.axis] == as_dim;
    }
    const Node* node = graph_.node_of(v);
    return node && (node->op == Op::as_size || node->op == Op::compress) && node->size == as_dim &&
           node->results[0] == v;
  }

  void check_symbols(ValueId v) {
    for (const Dim& dim : graph_.type(v).dims) check_symbols(v, dim);
  }

  void check_symbols(ValueId v, const Dim& dim) {
    for (SymbolId s : dim.symbols()) {
      if (s.index >= graph_.symbols.size()) {
        findings_.fail(v, str("symbol ", s.index, " is not of this graph"));
      } else if (!bound_[s]) {
        findings_.fail(v, str("symbol ", graph_.symbols[s].name, " is used before it is bound"));
      }
    }
  }

  void node(NodeId n) {
    const Node& node = graph_.nodes[n];
    const std::string name(node.op == Op::scalar    ? facts(node.scalar).name
                           : node.op == Op::library ? facts(node.library).name
                                                    : op_name(node.op));
    for (ValueId v : node.operands) {
      if (!check_handle(v, "an operand")) return;
      check_defined(v, name);
    }
    for (ValueId v : node.results) {
      if (!check_handle(v, "a result")) return;
      findings_.require(graph_.values[v].node == n, v, "does not name the node that makes it");
      define(v);
    }
    for (ValueId v : node.results) check_symbols(v);
    if (node.op == Op::host_call) return;
    if (is_region(node.op)) return check_region(graph_, sizes_, node, findings_);
    if (reduces_by(node, Fold::none)) return findings_.fail(name, node.location, "names no fold");
    const std::size_t num_results = node.op == Op::library  ? facts(node.library).signature.results.size()
                                    : node.op == Op::reduce ? facts(node.fold).num_stored
                                                            : 1;
    if (node.results.size() != num_results && node.op != Op::compress) {
      return findings_.fail(name, node.location, str("has ", node.results.size(), " results"));
    }
    const ValueId result = node.results[0];
    const Arity arity = arity_of(node);
    if (node.operands.size() < arity.minimum || node.operands.size() > arity.maximum) {
      return findings_.fail(result, str(name, " has ", node.operands.size(), " operands"));
    }
    if (node.op == Op::size) check_symbols(result, node.size);
    OpCheck check(graph_, sizes_, node, findings_);
    check_op(check);
  }

  const Graph& graph_;
  const SizeProof sizes_;
  Findings findings_;
  IdMap<ValueId, bool> defined_;
  IdMap<SymbolId, bool> bound_;
};

}  // namespace

void Findings::fail(const std::string& subject, const Location& location, const std::string& message) {
  all_.push_back({ErrorCode::internal, location, str(subject, ": ", message), {}, {}});
}

void Findings::fail(ValueId v, const std::string& message) {
  const Node* made_by = graph_.values[v].node.index < graph_.nodes.size() ? graph_.node_of(v) : nullptr;
  fail(graph_.value_text(v), made_by ? made_by->location : Location(), message);
}

}  // namespace inlay::verifier

namespace inlay {

std::vector<Diagnostic> verify(const Graph& graph) { return verifier::Verifier(graph).run(); }

}  // namespace inlay
