#include <algorithm>

#include "ir/verifier.h"

namespace inlay::verifier {

namespace {

struct Arity {
  std::size_t least = 0, greatest = 0;
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
    case Op::reduce:
    case Op::cumulative:
    case Op::as_size: return {1, 1};
    case Op::fold: return {facts(node.fold).num_operands(), facts(node.fold).num_operands()};
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

}  // namespace

std::vector<Diagnostic> Verifier::run() && {
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
    if (!defined_[v]) fail(v, "is made by nothing");
  }
  for (const DimCheck& check : graph_.checks) {
    if (!check.node.valid() || check.node.index < graph_.nodes.size()) continue;
    fail(graph_.name, check.location, str("the check of ", check.message, " stands at no node"));
  }
  return std::move(diagnostics_);
}

void Verifier::fail(const std::string& subject, const Location& location, const std::string& message) {
  diagnostics_.push_back({ErrorCode::internal, location, str(subject, ": ", message), {}, {}});
}

void Verifier::fail(ValueId v, const std::string& message) {
  const Node* made_by = graph_.values[v].node.index < graph_.nodes.size() ? graph_.node_of(v) : nullptr;
  fail(graph_.value_text(v), made_by ? made_by->location : Location(), message);
}

void Verifier::require(bool holds, ValueId v, const std::string& message) {
  if (!holds) fail(v, message);
}

bool Verifier::check_handle(ValueId v, const char* what) {
  if (valid(v)) return true;
  fail(graph_.name, {}, str(what, " is no value of the graph"));
  return false;
}

void Verifier::check_defined(ValueId v, const std::string& user) {
  if (!defined_[v]) fail(v, str("is used by ", user, " before it is made"));
}

void Verifier::define(ValueId v) {
  if (defined_[v]) fail(v, "is made twice");
  defined_[v] = true;
  for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
    const Symbol& symbol = graph_.symbols[s];
    if (symbol.source != v) continue;
    if (!binds(v, symbol, Dim::symbol(s))) {
      const std::string who = symbol.axis == Symbol::kOfValue ? "" : str("axis ", symbol.axis, " ");
      fail(v, str(who, "does not bind symbol ", symbol.name));
    }
    bound_[s] = true;
  }
}

/// Are the dims that it is given by its own, once what is assumed equal is one size?
void Verifier::check_given(const Param& param) {
  if (param.given.empty()) return;
  const auto assumed_equal = [&](const Dim& a, const Dim& b) { return unified(a) == unified(b); };
  require(std::ranges::equal(param.given, graph_.type(param.value).dims, assumed_equal), param.value,
          "is given by dims that are not assumed to be equal to its own");
}

/// Has the value the symbol as a whole dim, or is it the symbol's number?
bool Verifier::binds(ValueId v, const Symbol& symbol, const Dim& as_dim) const {
  const auto param = std::ranges::find(graph_.params, v, &Param::value);
  const std::vector<Dim>& dims = param == graph_.params.end() ? graph_.type(v).dims : given_dims(graph_, *param);
  if (symbol.axis != Symbol::kOfValue) {
    return symbol.axis >= 0 && symbol.axis < static_cast<int>(dims.size()) && dims[symbol.axis] == as_dim;
  }
  const Node* node = graph_.node_of(v);
  return node && (node->op == Op::as_size || node->op == Op::compress) && node->size == as_dim && node->results[0] == v;
}

void Verifier::check_symbols(ValueId v) {
  for (const Dim& dim : graph_.type(v).dims) check_symbols(v, dim);
}

void Verifier::check_symbols(ValueId v, const Dim& dim) {
  for (SymbolId s : dim.symbols()) {
    if (s.index >= graph_.symbols.size()) {
      fail(v, str("symbol ", s.index, " is not of this graph"));
    } else if (!bound_[s]) {
      fail(v, str("symbol ", graph_.symbols[s].name, " is used before it is bound"));
    }
  }
}

void Verifier::node(NodeId n) {
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
    require(graph_.values[v].node == n, v, "does not name the node that makes it");
    define(v);
  }
  for (ValueId v : node.results) check_symbols(v);
  if (node.op == Op::host_call) return;
  if (is_region(node.op)) return region(node);
  const std::size_t num_results = node.op == Op::library ? facts(node.library).signature.results.size()
                                  : node.op == Op::fold  ? facts(node.fold).num_stored
                                                         : 1;
  if (node.results.size() != num_results && node.op != Op::compress) {
    return fail(name, node.location, str("has ", node.results.size(), " results"));
  }
  const ValueId result = node.results[0];
  const Arity arity = arity_of(node);
  if (node.operands.size() < arity.least || node.operands.size() > arity.greatest) {
    return fail(result, str(name, " has ", node.operands.size(), " operands"));
  }
  current_ = result;
  check(node);
}

/// For all sizes, by an assumption, or by a check of the graph.
bool Verifier::same(const Dim& a, const Dim& b) const {
  // What is known to be equal to a - b: by one equality, by another one of that, and so on. b - d is 0 where b and d
  // were compared with 3.
  constexpr std::size_t kMost = 64;
  std::vector<Dim> equal = {unified(a - b)};
  for (std::size_t i = 0; i < equal.size(); ++i) {
    if (equal[i].is(0)) return true;
    const Dim difference = equal[i];
    for_each_equality([&](const Dim& left, const Dim& right) {
      if (equal.size() >= kMost) return;
      for (const Dim& other :
           {without(difference, left - right), replaced(difference, left, right), replaced(difference, right, left)}) {
        if (std::ranges::find(equal, other) == equal.end()) equal.push_back(other);
      }
    });
  }
  return false;
}

/// Less as many of what is 0 as take its first term away, if they can.
Dim Verifier::without(const Dim& difference, const Dim& zero) {
  // A check that never holds: what it guards never runs, so that any sizes are equal there.
  if (zero.is_constant() && !zero.is(0)) return 0;
  if (difference.is_constant()) return difference;
  const Dim::Term& first = difference.terms()[0];
  for (const Dim::Term& term : zero.terms()) {
    if (first.coefficient % term.coefficient != 0) continue;
    const Dim other = difference - Dim(first.coefficient / term.coefficient) * zero;
    if (other.is_constant() || other.terms().size() < difference.terms().size() + zero.terms().size() - 1) return other;
  }
  return difference;
}

/// With `by` in the place of a symbol, also within functions.
Dim Verifier::replaced(const Dim& difference, const Dim& symbol, const Dim& by) const {
  if (!symbol.is_symbol()) return difference;
  IdMap<SymbolId, Dim> replacement;
  for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) replacement.push_back(Dim::symbol(s));
  replacement[symbol.as_symbol()] = by;
  return difference.substitute(replacement);
}

bool Verifier::at_most(const Dim& a, const Dim& b) const {
  const Dim gap = unified(b - a);
  if (gap.lower_bound(IdMap<SymbolId, int64_t>(graph_.symbols.size(), 0)) >= 0) return true;
  const auto says_so = [&](const DimCheck& check) {
    return check.relation == DimCheck::Relation::at_most && unified(check.right - check.left) == gap;
  };
  return std::ranges::any_of(graph_.checks, says_so) || same(a, b);
}

bool Verifier::same(std::span<const Dim> a, std::span<const Dim> b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Dim& x, const Dim& y) { return same(x, y); });
}

void Verifier::expect_type(DType dtype, const std::vector<Dim>& dims) {
  const TensorType& found = type(current_);
  if (found.dtype == dtype && same(found.dims, dims)) return;
  fail(current_, str("its type is ", text(found), "; its operands make ", text(TensorType{dtype, dims})));
}

/// `from` stretches to `to`, aligned at the last axis, only where it is 1.
void Verifier::expect_stretches(const std::vector<Dim>& from, const std::vector<Dim>& to, const std::string& what) {
  bool fits = from.size() <= to.size();
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    fits = from[i].is(1) || same(from[i], to[to.size() - from.size() + i]);
  }
  const TensorType left{DType::f64, from}, right{DType::f64, to};
  if (!fits) fail(current_, str(what, " ", text(left), " does not stretch to ", text(right)));
}

}  // namespace inlay::verifier

namespace inlay {

std::vector<Diagnostic> verify(const Graph& graph) { return verifier::Verifier(graph).run(); }

}  // namespace inlay
