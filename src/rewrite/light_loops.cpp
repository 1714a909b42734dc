#include "rewrite/light_loops.h"

#include <algorithm>
#include <memory>

#include "ir/region.h"
#include "ir/traits.h"
#include "rewrite/dead_values.h"
#include "rewrite/rewriter.h"

namespace inlay::rewrite {
namespace {

bool computes(const Node& node) {
  switch (node.op) {
    case Op::scalar:
    case Op::cast:
    case Op::library:
    case Op::update:
    case Op::reduce:
    case Op::cumulative:
    case Op::concat: return true;
    default: return false;
  }
}

/// Is it a view that a step can make of its own row?
bool views_rows(const Node& node) { return node.op == Op::slice || node.op == Op::flip || node.op == Op::transpose; }

/// Does each step only read a part of it?
bool is_gathered_only(const Graph& body, ValueId v) {
  const auto gathers = [&](const Node& node) {
    return std::ranges::find(node.operands, v) == node.operands.end() ||
           (node.op == Op::gather && std::ranges::count(node.operands, v) == 1 && node.operands[0] == v);
  };
  return std::ranges::all_of(body.nodes, gathers) &&
         std::ranges::find(body.outputs, v, &Output::value) == body.outputs.end();
}

/// Inserts `first` before the nodes of the graph; each has one result.
void prepend(Graph& graph, std::vector<Node> first) {
  const auto moved = [&](NodeId n) { return n.valid() ? NodeId(n.index + first.size()) : n; };
  for (ValueInfo& value : graph.values) value.node = moved(value.node);
  for (DimCheck& check : graph.checks) check.node = moved(check.node);
  IdMap<NodeId, Node> nodes;
  for (Node& node : first) {
    const ValueId result = node.results[0];
    graph.values[result].node = nodes.push_back(std::move(node));
  }
  for (Node& node : graph.nodes) nodes.push_back(std::move(node));
  graph.nodes = std::move(nodes);
}

/// The body of a loop, and which parts of it a step needs.
class Body {
 public:
  /// `is_read` is by result of the loop.
  Body(const Graph& graph, const Region& region, std::vector<bool> is_read)
      : kept(std::move(is_read)), unchanged(static_cast<std::size_t>(region.num_carried), false), graph_(graph) {
    kept.resize(graph.outputs.size(), true);  // and the condition
    keep_what_is_needed();
  }

  std::vector<bool> kept;       // by output
  std::vector<bool> unchanged;  // by carried value: it becomes a captured one

  std::size_t num_carried() const { return unchanged.size(); }
  ValueId carried(std::size_t i) const { return graph_.params[1 + i].value; }
  bool stays_carried(std::size_t i) const { return kept[i] && !unchanged[i]; }

  /// Returns values that depend on outside values alone: each costs something, and is read by what stays or is
  /// returned.
  std::vector<ValueId> invariants() const {
    const IdMap<ValueId, bool> is_invariant = invariant_values();
    IdMap<ValueId, bool> asked(graph_.values.size(), false);
    std::vector<ValueId> out;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) asked[graph_.outputs[i].value] = true;
    }
    for_each_asked(asked, [&](NodeId n) {
      const Node& node = graph_.nodes[n];
      const auto leaves = [&](ValueId v) { return asked[v] && is_invariant[v] && pays(v); };
      if (node.results.size() > 1 || !leaves(node.results[0])) return true;
      out.push_back(node.results[0]);
      return false;
    });
    std::ranges::reverse(out);
    return out;
  }

  /// Returns the nodes that compute the value, in order.
  std::vector<NodeId> cone(ValueId of) const {
    IdMap<ValueId, bool> asked(graph_.values.size(), false);
    std::vector<NodeId> out;
    asked[of] = true;
    for_each_asked(asked, [&](NodeId n) {
      out.push_back(n);
      return true;
    });
    std::ranges::reverse(out);
    return out;
  }

 private:
  /// Marks needed nodes, starting from the last: those with effects or a needed result. Their operands are needed too,
  /// and so are nodes that find their sizes if `visit` says so.
  template <class Visit>
  void for_each_asked(IdMap<ValueId, bool>& asked, const Visit& visit, bool effects = false) const {
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const NodeId n(i);
      const Node& node = graph_.nodes[n];
      const bool is_asked = std::ranges::any_of(node.results, [&](ValueId v) { return asked[v]; });
      if ((!is_asked && !(effects && has_effects(node))) || !visit(n)) continue;
      for (ValueId v : node.operands) asked[v] = true;
      for_each_size(graph_, node, [&](const Dim& size) {
        for (SymbolId s : size.symbols()) {
          if (graph_.binder_of(s).valid()) asked[graph_.symbols[s].source] = true;
        }
      });
    }
  }

  /// A carried value that a step reads also needs its next value.
  void keep_what_is_needed() {
    for (bool more = true; more;) {
      IdMap<ValueId, bool> needed(graph_.values.size(), false);
      for (std::size_t i = 0; i < kept.size(); ++i) {
        if (kept[i]) needed[graph_.outputs[i].value] = true;
      }
      for_each_asked(needed, [](NodeId) { return true; }, /*effects=*/true);
      more = false;
      for (std::size_t i = 0; i < num_carried(); ++i) {
        if (!kept[i] && needed[carried(i)]) kept[i] = more = true;
      }
    }
  }

  /// Returns the bases of updates that should be in place. Outside of the loop, each would be needed in every
  /// iteration, and copied.
  IdMap<ValueId, bool> overwritten_values() const {
    IdMap<ValueId, bool> out(graph_.values.size(), false);
    for (const Node& node : graph_.nodes) {
      if (node.in_place == InPlace::required) out[node.operands[0]] = true;
    }
    return out;
  }

  /// Are all of its sizes known in the enclosing graph?
  bool has_given_sizes(const Node& node) const {
    bool out = true;
    for_each_size(graph_, node, [&](const Dim& size) { out = out && graph_.is_given(size); });
    return out;
  }

  IdMap<ValueId, bool> invariant_values() const {
    IdMap<ValueId, bool> out(graph_.values.size(), false);
    for (std::size_t p = 1; p < graph_.params.size(); ++p) {
      out[graph_.params[p].value] = p > num_carried() || unchanged[p - 1];
    }
    const IdMap<NodeId, bool> has_check = nodes_with_checks(graph_);
    const IdMap<ValueId, bool> is_overwritten = overwritten_values();
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      const Node& node = graph_.nodes[n];
      const bool is_invariant = !has_check[n] && !may_fail(graph_, node) && has_given_sizes(node) &&
                                std::ranges::all_of(node.operands, [&](ValueId v) { return out[v]; });
      for (ValueId v : node.results) out[v] = is_invariant && !is_overwritten[v];
    }
    return out;
  }

  /// Does it cost something to compute, and little to keep? (Values of sizes and literals alone stay.)
  bool pays(ValueId v) const {
    const std::vector<NodeId> nodes = cone(v);
    if (std::ranges::none_of(nodes, [&](NodeId n) { return computes(graph_.nodes[n]); })) return false;
    const Dim size = product(graph_.type(v).dims);
    bool has_source = false, is_small = size.is(1) || graph_.node_of(v)->op == Op::library;
    for (NodeId n : nodes) {
      for (ValueId operand : graph_.nodes[n].operands) {
        if (graph_.values[operand].node.valid()) continue;
        has_source = true;
        is_small = is_small || (product(graph_.type(operand).dims) - size).lower_bound({}) >= 0;
      }
    }
    return has_source && is_small;
  }

  const Graph& graph_;
};

void replace_in(Graph& graph, ValueId old, ValueId by) {
  for (Node& node : graph.nodes) {
    std::ranges::replace(node.operands, old, by);
    for (IndexItem& item : node.index) {
      if (item.array == old) item.array = by;
    }
  }
  for (Output& output : graph.outputs) {
    if (output.value == old) output.value = by;
  }
}

/// Returns the body with all symbols of the graph, some of which may be newer than it.
Graph with_all_symbols(const Graph& body, const Graph& around) {
  if (body.num_given == around.symbols.size()) return body;
  IdMap<SymbolId, Dim> same;
  for (SymbolId s : ids<SymbolId>(body.num_given)) same.push_back(Dim::symbol(s, around.symbols_of));
  return with_symbols(body, around, same);
}

/// One loop, rebuilt in place of the old one.
class LighterLoop {
 public:
  LighterLoop(Rewriter& out, NodeId old, const IdMap<ValueId, int>& num_reads, const IdMap<NodeId, bool>& has_check,
              PassContext& context)
      : out_(out),
        has_check_(has_check),
        old_(old),
        node_(out.source().nodes[old]),
        graph_(with_all_symbols(*node_.region.bodies[0], out.source())),
        context_(context) {
    std::vector<bool> reads;
    for (ValueId v : node_.results) reads.push_back(num_reads[v] > 0);
    body_ = std::make_unique<Body>(graph_, node_.region, reads);
  }

  void make() {
    const bool keeps_all = std::ranges::find(body_->kept, false) == body_->kept.end();
    if (!keeps_all && !context_.fires("unread-loop-result", Close::bitwise)) {
      body_ = std::make_unique<Body>(graph_, node_.region, std::vector<bool>(node_.results.size(), true));
    }
    find_unchanged();
    out_.at(old_);
    for (std::size_t i = 0; i < body_->num_carried(); ++i) {
      if (body_->stays_carried(i)) params_.push_back(graph_.params[1 + i]), initial_.push_back(initial(i));
    }
    for (std::size_t i = 0; i < body_->num_carried(); ++i) {
      if (body_->unchanged[i]) captured_.push_back({graph_.params[1 + i], initial(i), node_.operands[i]});
    }
    for (std::size_t p = 1 + body_->num_carried(); p < graph_.params.size(); ++p) {
      captured_.push_back({graph_.params[p], out_[node_.operands[p - 1]], node_.operands[p - 1]});
    }
    Graph lighter = graph_;
    move_invariants(lighter);
    bring_views_in(lighter);
    finish(std::move(lighter));
  }

 private:
  /// A captured value: its parameter, the value of the new graph, and the source's, if it has one.
  struct Captured {
    Param param;
    ValueId value, source;
  };

  ValueId initial(std::size_t i) const { return out_[node_.operands[i]]; }

  void find_unchanged() {
    for (std::size_t i = 0; i < body_->num_carried(); ++i) {
      const bool is_same = body_->kept[i] && graph_.outputs[i].value == body_->carried(i) &&
                           out_.graph().type(initial(i)) == graph_.type(body_->carried(i));
      body_->unchanged[i] = is_same && context_.fires("unchanged-in-loop", Close::bitwise);
    }
  }

  /// Computes each invariant here, and captures it.
  void move_invariants(Graph& lighter) {
    IdMap<ValueId, ValueId> outside(graph_.values.size());
    for (const Captured& each : captured_) outside[each.param.value] = each.value;
    for (ValueId v : body_->invariants()) {
      if (!context_.fires("loop-invariant", Close::bitwise)) continue;
      for (NodeId n : body_->cone(v)) compute(graph_.nodes[n], outside);
      const ValueId param = lighter.values.push_back({graph_.type(v), graph_.values[v].name, {}});
      replace_in(lighter, v, param);
      captured_.push_back({Param{.value = param}, outside[v], {}});
    }
    out_.at(old_);  // the loop's own checks stand at the loop
  }

  void compute(Node node, IdMap<ValueId, ValueId>& outside) {
    if (outside[node.results[0]].valid()) return;
    std::vector<TensorType> types;
    for (ValueId& v : node.operands) v = outside[v];
    for (IndexItem& item : node.index) {
      if (item.array.valid()) item.array = outside[item.array];
    }
    for (ValueId v : node.results) types.push_back(graph_.type(v));
    out_.builder().at(node.location);
    const std::vector<ValueId> made = rebuild(out_.builder(), node, std::move(types));
    for (std::size_t i = 0; i < made.size(); ++i) outside[node.results[i]] = made[i];
  }

  /// Captures the operand of a view of which a step reads a part: nothing is written out to be read again.
  void bring_views_in(Graph& lighter) {
    std::vector<Node> views;
    std::vector<Captured> captured;
    for (const Captured& each : captured_) {
      const std::vector<const Node*> chain = views_of(each);
      if (chain.empty() || !context_.fires("view-into-loop", Close::bitwise)) {
        captured.push_back(each);
        continue;
      }
      const ValueId source = chain.back()->operands[0];
      const auto known = std::ranges::find(captured, source, &Captured::source);
      ValueId inside = known == captured.end() ? ValueId() : known->param.value;
      if (!inside.valid()) {
        const ValueInfo& value = out_.source().values[source];
        inside = lighter.values.push_back({value.type, value.name, {}});
        captured.push_back({Param{.value = inside}, out_[source], source});
      }
      for (std::size_t i = chain.size(); i-- > 0;) {
        Node view = *chain[i];
        const TensorType& type = out_.source().type(view.results[0]);
        view.operands = {inside};
        inside = i == 0 ? each.param.value : lighter.values.push_back({type, "", {}});
        view.results = {inside};
        views.push_back(std::move(view));
      }
    }
    captured_ = std::move(captured);
    prepend(lighter, std::move(views));
  }

  /// Returns the views between a captured value and something in memory, the last one first. A slice of what would
  /// otherwise not be in memory stays: all of it would have to be stored.
  std::vector<const Node*> views_of(const Captured& captured) const {
    const Graph& graph = out_.source();
    std::vector<const Node*> chain;
    ValueId v = captured.source;
    if (!v.valid() || !is_gathered_only(graph_, captured.param.value)) return chain;
    bool is_part = false;
    for (const Node* node = graph.node_of(v); node && views_rows(*node); node = graph.node_of(v)) {
      if (has_check_[graph.values[v].node]) break;
      chain.push_back(node);
      is_part = is_part || node->op == Op::slice;
      v = node->operands[0];
    }
    const Node* source = graph.node_of(v);
    if (is_part && source && !is_always_stored(*source)) chain.clear();
    return chain;
  }

  void finish(Graph lighter) {
    std::vector<Output> outputs;
    for (std::size_t i = 0; i < lighter.outputs.size(); ++i) {
      if (i < body_->num_carried() ? body_->stays_carried(i) : body_->kept[i]) outputs.push_back(lighter.outputs[i]);
    }
    lighter.outputs = std::move(outputs);
    const std::size_t first = 1 + params_.size();
    params_.insert(params_.begin(), graph_.params[0]);
    for (const Captured& each : captured_) params_.push_back(each.param);
    lighter.params = std::move(params_);
    PassContext uncounted;
    lighter = drop_dead_values(lighter, uncounted);
    const IdMap<ValueId, int> num_reads = count_uses(lighter);
    std::vector<ValueId> captured;
    std::vector<Param> params(lighter.params.begin(), lighter.params.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t i = 0; i < captured_.size(); ++i) {
      if (num_reads[lighter.params[first + i].value] == 0) continue;
      params.push_back(lighter.params[first + i]);
      captured.push_back(captured_[i].value);
    }
    lighter.params = std::move(params);
    lighter = drop_dead_values(lighter, uncounted);  // numbers its values anew
    const std::vector<ValueId> made =
        out_.builder().loop(out_.dim(node_.region.count), std::move(initial_), std::move(captured), std::move(lighter),
                            node_.region.has_condition ? Ends::by_condition : Ends::after_count);
    std::vector<ValueId> by;
    auto next = made.begin();
    for (std::size_t i = 0; i < node_.results.size(); ++i) {
      const bool is_unchanged = i < body_->num_carried() && body_->unchanged[i];
      by.push_back(is_unchanged ? initial(i) : body_->kept[i] ? *next++ : ValueId());
    }
    out_.replace(old_, by);
  }

  Rewriter& out_;
  const IdMap<NodeId, bool>& has_check_;  // of the source
  const NodeId old_;
  const Node& node_;
  const Graph graph_;  // its body
  PassContext& context_;
  std::unique_ptr<Body> body_;
  std::vector<Param> params_;     // of the carried values
  std::vector<ValueId> initial_;  // in the enclosing graph, as all that follow
  std::vector<Captured> captured_;
};

Graph lighten_once(const Graph& graph, PassContext& context) {
  const IdMap<ValueId, int> num_reads = count_uses(graph);
  const IdMap<NodeId, bool> has_check = nodes_with_checks(graph);
  Rewriter out(graph);
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    if (graph.nodes[n].op == Op::loop) {
      LighterLoop(out, n, num_reads, has_check, context).make();
    } else {
      out.copy(n);
    }
  }
  return std::move(out).finish();
}

}  // namespace

Graph lighten_loops(const Graph& graph, PassContext& context) {
  if (std::ranges::find(graph.nodes, Op::loop, &Node::op) == graph.nodes.end()) return graph;
  Graph out = graph;
  for (int64_t dropped = -1;
       dropped != context.counted("unread-loop-result");) {  // a loop may have fed a removed result
    dropped = context.counted("unread-loop-result");
    PassContext uncounted;
    out = lighten_once(drop_dead_values(out, uncounted), context);
  }
  return out;
}

}  // namespace inlay::rewrite
