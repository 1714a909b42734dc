#include "rewrite/bound_part.h"

#include <algorithm>

#include "ir/region.h"
#include "ir/traits.h"
#include "rewrite/rewriter.h"

namespace inlay::rewrite {
namespace {

class Split {
 public:
  Split(const Graph& graph, Growth growth)
      : graph_(graph),
        growth_(growth),
        held_(graph.values.size(), 0),
        kinds_(graph.values.size(), Kind::of_call),
        is_checked_(graph.nodes.size(), false) {
    for (const DimCheck& check : graph.checks) {
      if (check.node.valid()) is_checked_[check.node] = true;
    }
    for (const Param& param : graph.params) {
      if (!param.bound) continue;
      kinds_[param.value] = Kind::of_bound;
      most_ += kMostGrowth * elements(param.value);
      held_[param.value] = memory(param.value);
    }
    for (NodeId n : ids<NodeId>(graph.nodes.size())) {
      const Kind kind = kind_of(n);
      for (ValueId v : graph.nodes[n].results) {
        kinds_[v] = kind;
        if (kind == Kind::of_bound) held_[v] = held_for(v, graph.nodes[n]);
      }
    }
  }

  BoundPart run() {
    find_readers();
    BoundPart out;
    make_once(out);
    make_call(out);
    return out;
  }

 private:
  enum class Kind : uint8_t {
    of_call,     // needs a call
    of_nothing,  // literals and what is made of them
    of_bound,    // of bound parameters, and of nothing else
  };

  Kind kind_of(NodeId n) const {
    const Node& node = graph_.nodes[n];
    if (is_checked_[n] || node.op == Op::host_call || node.op == Op::assert_ || node.op == Op::as_size ||
        node.op == Op::compress || is_region(node.op)) {
      return Kind::of_call;
    }
    bool is_fixed = true;
    for_each_size(graph_, node, [&](const Dim& size) { is_fixed = is_fixed && size.is_constant(); });
    if (!is_fixed) return Kind::of_call;
    if (std::ranges::any_of(node.results, [&](ValueId v) { return elements(v) > most_; })) return Kind::of_call;
    Kind kind = Kind::of_nothing;
    for (ValueId v : node.operands) {
      if (kinds_[v] == Kind::of_call) return Kind::of_call;
      if (kinds_[v] == Kind::of_bound) kind = Kind::of_bound;
    }
    return kind;
  }

  double elements(ValueId v) const { return product(graph_.type(v).dims).estimate({}); }

  double memory(ValueId v) const {
    return elements(v) * (growth_ == Growth::none_of_bytes ? static_cast<double>(size_bytes(graph_.type(v).dtype)) : 1);
  }
  double held_by_operands(const Node& node) const {
    double sum = 0;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId v = node.operands[i];
      const auto same = std::ranges::find(node.operands, v) - node.operands.begin();
      if (kinds_[v] == Kind::of_bound && static_cast<std::size_t>(same) == i) sum += held_[v];
    }
    return sum;
  }
  /// What is kept from call to call so that a call has v: itself, or bytes that it is made of.
  double held_for(ValueId v, const Node& node) const {
    return growth_ == Growth::none_of_bytes ? std::min(memory(v), held_by_operands(node)) : memory(v);
  }

  /// Is it computed once, if a call reads it? What takes no more memory than the bound values that it is made of. Views
  /// cost a call nothing, but for the transposes of some matrices.
  bool is_worth_it(const Node& node) const {
    if (is_view(node.op) && !(node.op == Op::transpose && is_laid_out(node.results[0]))) return false;
    double written = 0;
    for (ValueId v : node.results) written += memory(v);
    return written <= held_by_operands(node);
  }

  /// Does a transpose lie as products read it, from the right? A row times [112, 336] floats takes 1.4 us, times the
  /// transpose of [336, 112] 2.1. What comes from memory takes as long either way, and a weight that is mapped from its
  /// file stays there; but for loops, which read it in each step. A call that takes rows alone would copy it each time.
  bool is_laid_out(ValueId v) const {
    constexpr double kStaysInCache = 1 << 20;
    const auto bytes = static_cast<double>(size_bytes(graph_.type(v).dtype)) * elements(v);
    return !readers_[v].others && (!readers_[v].products || bytes <= kStaysInCache);
  }

  /// What a call reads, from the end: a node of the bound part that is not worth it is computed by the call.
  void find_readers() {
    in_call_.resize(graph_.nodes.size(), false);
    is_read_.resize(graph_.values.size(), false);
    readers_.resize(graph_.values.size());
    for (const Output& output : graph_.outputs) {
      is_read_[output.value] = true;
      readers_[output.value].others = true;
    }
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const NodeId n(i);
      const Node& node = graph_.nodes[n];
      const bool is_read = std::ranges::any_of(node.results, [&](ValueId v) { return is_read_[v]; });
      const Kind kind = node.results.empty() ? Kind::of_call : kinds_[node.results[0]];
      in_call_[n] = kind == Kind::of_call || (is_read && (kind == Kind::of_nothing || !is_worth_it(node)));
      if (!in_call_[n]) continue;
      const bool is_call = node.op == Op::library, is_product = is_call && node.library == LibraryOp::matmul;
      for (std::size_t k = 0; k < node.operands.size(); ++k) {
        const ValueId v = node.operands[k];
        is_read_[v] = true;
        const bool wants_rows = is_call && facts(node.library).operand_layouts[k] == LibraryLayout::rows;
        readers_[v].products |= is_product && k == 1;
        readers_[v].others |= node.op != Op::loop && !wants_rows && !(is_product && k == 1);
      }
    }
  }

  void make_once(BoundPart& out) {
    IdMap<ValueId, bool> is_needed(graph_.values.size(), false);
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      if (in_call_[n]) continue;
      for (ValueId v : graph_.nodes[n].results) is_needed[v] = is_read_[v];
    }
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[NodeId(i)];
      if (std::ranges::none_of(node.results, [&](ValueId v) { return is_needed[v]; })) continue;
      for (ValueId v : node.operands) is_needed[v] = true;
    }
    GraphBuilder b(graph_.name);
    IdMap<ValueId, ValueId> values(graph_.values.size());
    int number = 0;
    for (const Param& param : graph_.params) {
      if (!param.bound) continue;
      if (is_needed[param.value]) {
        values[param.value] = b.param(graph_.values[param.value].name, graph_.type(param.value));
        out.operands.push_back(number);
      }
      ++number;
    }
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      Node node = graph_.nodes[n];
      if (std::ranges::none_of(node.results, [&](ValueId v) { return is_needed[v]; })) continue;
      std::vector<TensorType> types;
      for (ValueId v : node.results) types.push_back(graph_.type(v));
      for (ValueId& v : node.operands) v = values[v];
      for (IndexItem& item : node.index) {
        if (item.array.valid()) item.array = values[item.array];
      }
      b.at(node.location);
      const std::vector<ValueId> made = rebuild(b, node, std::move(types));
      for (std::size_t i = 0; i < made.size(); ++i) values[node.results[i]] = made[i];
    }
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      if (in_call_[n]) continue;
      for (ValueId v : graph_.nodes[n].results) {
        if (!is_read_[v]) continue;
        b.output(values[v], graph_.values[v].name);
      }
    }
    out.once = std::move(b).finish();
  }

  void make_call(BoundPart& out) {
    Rewriter call(graph_, IdMap<SymbolId, bool>(graph_.symbols.size(), true), is_read_);
    int number = 0;
    for (const Param& param : graph_.params) {
      if (!param.bound) continue;
      if (is_read_[param.value]) out.bound.push_back(number);
      ++number;
    }
    int output = 0;
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      if (in_call_[n]) {
        call.copy(n);
        continue;
      }
      std::vector<ValueId> by;
      bool is_read = false;
      for (ValueId v : graph_.nodes[n].results) {
        by.push_back(is_read_[v] ? call.builder().bound(graph_.values[v].name, graph_.type(v)) : ValueId());
        if (!is_read_[v]) continue;
        is_read = true;
        out.bound.push_back(~output++);
      }
      if (is_read) call.replace(n, by);
    }
    out.call = std::move(call).finish();
  }

  static constexpr double kMostGrowth = 16, kAnyway = 1 << 20;

  const Graph& graph_;
  Growth growth_;
  IdMap<ValueId, double> held_;
  double most_ = kAnyway;  // elements of a value that is computed once, so that the time it takes is that of the bound
  IdMap<ValueId, Kind> kinds_;
  IdMap<NodeId, bool> is_checked_, in_call_;
  IdMap<ValueId, bool> is_read_;  // by a call
  /// In a call: products that have it on their right, and others that are no loops.
  struct Readers {
    bool products = false, others = false;
  };
  IdMap<ValueId, Readers> readers_;
};

}  // namespace

BoundPart split_bound_part(const Graph& graph, Growth growth) { return Split(graph, growth).run(); }

}  // namespace inlay::rewrite
