#include "fuse/decide.h"

#include <algorithm>
#include <array>

#include "fuse/selection.h"
#include "fuse/view_maps.h"
#include "ir/positions.h"
#include "ir/region.h"
#include "ir/traits.h"
#include "ops/library_op.h"
#include "support/table.h"

namespace inlay::fuse {

using kernel::Stored;
using kernel::StoredFor;

namespace {

/// The nodes that read each value.
IdMap<ValueId, SmallVector<NodeId, 2>> find_readers(const Graph& graph) {
  IdMap<ValueId, SmallVector<NodeId, 2>> out(graph.values.size());
  for (NodeId id : ids<NodeId>(graph.nodes.size())) {
    for (ValueId operand : graph.nodes[id].operands) {
      SmallVector<NodeId, 2>& readers = out[operand];
      if (readers.empty() || readers.back() != id) readers.push_back(id);
    }
  }
  return out;
}

bool is_written_by_regions(Op op) { return op == Op::update || op == Op::scatter || op == Op::concat; }

class Decider {
 public:
  Decider(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
          const IdMap<ValueId, int>& uses)
      : graph_(graph),
        caps_(caps),
        cones_(cones),
        forced_(forced),
        uses_(uses),
        needed_(graph.values.size(), false),
        required_(graph.values.size(), false) {
    out_.of = IdMap<ValueId, Decision>(graph.values.size());
  }

  Decisions decide() {
    find_needed();
    for (ValueId v : ids<ValueId>(graph_.values.size())) decide(v);
    find_bases();
    find_parts();
    place_in_outputs();
    for (ValueId v : ids<ValueId>(graph_.values.size())) {
      const Node* node = graph_.node_of(v);
      if (node && is_written_by_regions(node->op) && out_.of[v].how == How::stored) decide_regions(graph_, v, out_);
    }
    const auto num_slots = static_cast<int>(graph_.outputs.size());
    for (int slot = 0; slot < num_slots; ++slot) out_.outputs.push_back(returned(slot));
    out_.directions = Directions(graph_);
    return std::move(out_);
  }

 private:
  // --- what is needed, and what of it must be in memory, whatever it costs to compute ---

  void find_needed() {
    for (const Output& output : graph_.outputs) need_whole(output.value);
    for (const Node& node : graph_.nodes) {
      // They can fail, or bind a symbol: they run whoever reads them.
      if (node.op == Op::as_size || node.op == Op::compress) needed_[node.results[0]] = true;
      if (!has_effects(node)) continue;
      for (ValueId v : node.results) needed_[v] = true;
    }
    for (uint32_t i = static_cast<uint32_t>(graph_.values.size()); i-- > 0;) {
      const ValueId v(i);
      if (const Node* node = graph_.node_of(v); node && needed_[v]) need_operands(v, *node);
    }
  }

  void need_whole(ValueId v) { needed_[v] = required_[v] = true; }

  void need_operands(ValueId v, const Node& node) {
    if (node.op == Op::library) return require_library_operands(v, node);
    if (is_stored(how(v, node))) {
      const NodeId compress = selection_of(graph_, cones_, forced_, uses_, v);
      if (compress.valid()) return send_along(v, compress);
    }
    for (ValueId operand : node.operands) needed_[operand] = true;
    if (is_region(node.op) || node.op == Op::reduce) {
      for (ValueId result : node.results) needed_[result] = true;  // a body, or a fold, makes all of them
    }
    require_operands(node);
  }

  /// The value is made where the mask of the compress is passed, and what it is made of is asked there, but for
  /// numbers. (All operands of a compress are needed.)
  void send_along(ValueId v, NodeId compress) {
    out_.of[v].with = graph_.nodes[compress].results[0];
    std::vector<ValueId> todo = {v};
    while (!todo.empty()) {
      const ValueId part = todo.back();
      todo.pop_back();
      for (ValueId operand : graph_.node_of(part)->operands) {
        if (has_one_element(graph_.type(operand))) {
          needed_[operand] = true;
        } else if (graph_.values[operand].node != compress) {
          out_.of[operand].how = How::inlined;
          todo.push_back(operand);
        }
      }
    }
  }

  /// Of equal reasons the first one in the graph is kept, which is met last.
  void require(ValueId v, Stored why) {
    required_[v] = true;
    Stored& kept = out_.of[v].why;
    if (kept.why == why.why) {
      kept = std::move(why);
    } else {
      kernel::offer(kept, std::move(why));
    }
  }

  void require_operands(const Node& node) {
    switch (node.op) {
      case Op::host_call:
        for (ValueId operand : node.operands) {
          require(operand, {StoredFor::call_operand, str("host call \"", node.text, "\"")});
        }
        break;
      case Op::cond:
        for (ValueId operand : node.operands) require(operand, {StoredFor::captured, "a branch"});
        break;
      case Op::loop:  // initial values are computed where they are carried
        for (std::size_t i = static_cast<std::size_t>(node.region.num_carried); i < node.operands.size(); ++i) {
          require(node.operands[i], {StoredFor::captured, "every pass of a loop"});
        }
        break;
      case Op::reshape:
        if (!reshape_is_map(graph_, node)) {
          require(node.operands[0], {StoredFor::reshape, graph_.name_text(node.results[0])});
        }
        break;
      case Op::gather: {
        const ValueId base = node.operands[0];
        if (cones_.is_read_by_position(base, forced_.values)) require(base, {StoredFor::by_position, {}});
        break;
      }
      default: break;
    }
  }

  /// A library function writes all of its results, whoever reads them, and reads the bytes below views.
  void require_library_operands(ValueId v, const Node& node) {
    const auto [entry, is_new] = out_.operands.try_emplace(graph_.values[v].node);
    if (!is_new) return;
    for (ValueId result : node.results) needed_[result] = true;
    const std::vector<Dim> sizes = library_sizes(graph_, node);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      entry->second.push_back(library_operand(graph_, cones_, forced_, node, i, sizes));
      const LibraryOperand& operand = entry->second.back();
      needed_[operand.base] = true;
      require(operand.base, why_read(node, operand));
    }
  }

  Stored why_read(const Node& call, const LibraryOperand& operand) const {
    const std::string makes = join(call.results, " and ", [&](ValueId v) { return graph_.name_text(v); });
    const std::string name = str(facts(call.library).name, ", which makes ", makes);
    if (operand.why_copied.empty()) return {StoredFor::call_operand, name + ","};
    return {StoredFor::call_layout, str(name, ": ", operand.why_copied)};
  }

  // --- each value by itself ---

  void decide(ValueId v) {
    Decision& decision = out_.of[v];
    const Node* node = graph_.node_of(v);
    if (!node) decision = {.how = How::given, .why = {}};
    if (!node || !needed_[v]) return;
    decision.how = how(v, *node);
    if (node->op == Op::reduce) decision.folds = num_folds(v, *node);
    if (decision.how == How::view) decision.with = node->operands[0];
    if (decision.how == How::constant || decision.how == How::hosted) decision.why = {};
    if (decision.how != How::stored) return;
    kernel::offer(decision.why, cones_.always_stored(v) ? why_always_stored(v, *node)
                                : forced_.values[v]     ? forced_.reasons.at(v)
                                                        : Stored());
    if (decision.with.valid()) kernel::offer(decision.why, {StoredFor::by_parts, {}});
  }

  static Stored why_always_stored(ValueId v, const Node& node) {
    switch (node.op) {
      case Op::library: return {StoredFor::call_result, std::string(facts(node.library).name)};
      case Op::reduce: return {StoredFor::fold, {}};  // which loop reads it first, the schedule says
      case Op::cumulative: return {StoredFor::running_values, {}};
      case Op::cond: return {StoredFor::by_region, "a branch"};
      case Op::loop: return is_trace(v, node) ? Stored{StoredFor::by_region, "a loop"} : Stored{StoredFor::carried, {}};
      default: return {StoredFor::by_parts, {}};
    }
  }

  How how(ValueId v, const Node& node) const {
    const TensorType& type = graph_.type(v);
    switch (node.op) {
      case Op::literal: return has_one_element(type) ? How::inlined : How::constant;
      case Op::host_call: return How::hosted;
      case Op::update:
      case Op::scatter:
      case Op::concat:
      case Op::library:
      case Op::cumulative: return How::stored;
      case Op::reshape:
        if (!reshape_is_map(graph_, node)) return How::view;
        break;
      case Op::loop:
        if (is_trace(v, node)) return How::stored;
        break;
      default: break;
    }
    if (type.dtype == DType::opaque) return How::hosted;
    if (has_one_element(type)) return How::number;
    return is_wanted_whole(v) || cones_.always_stored(v) ? How::stored : How::inlined;
  }

  static bool is_stored(How how) { return how == How::stored || how == How::number; }

  bool is_wanted_whole(ValueId v) const { return required_[v] || forced_.values[v]; }

  static bool is_trace(ValueId v, const Node& loop) {
    const auto at = std::ranges::find(loop.results, v) - loop.results.begin();
    return at >= loop.region.num_carried;
  }

  /// A short static result beside a long sum is written out: one fold for each element, so that it joins loops over
  /// the long axis (X.T @ r over the observations).
  int num_folds(ValueId v, const Node& node) const {
    if (is_unrolled(graph_, node, caps_)) return 0;
    const int64_t size = num_elements_up_to(graph_.type(v).dims, caps_.max_short_side).value_or(0);
    if (size <= 1) return 1;
    int ops = static_cast<int>(node.results.size());
    for (ValueId x : node.operands) ops += cones_.of(x, forced_.values).ops;
    return size * ops <= caps_.max_body_ops ? static_cast<int>(size) : 1;
  }

  // --- what is written region by region, and what is made with it ---

  bool is_needed(ValueId v) const { return out_.of[v].how != How::unneeded; }

  /// An update, a scatter or a concat that is read only to be written to is made where that one is made.
  void find_bases() {
    for (ValueId v : ids<ValueId>(graph_.values.size())) {
      const Node* node = graph_.node_of(v);
      if (!is_needed(v) || !node || (node->op != Op::update && node->op != Op::scatter)) continue;
      const ValueId base = node->operands[0];
      const Node* made_by = graph_.node_of(base);
      const bool has_regions = made_by && is_written_by_regions(made_by->op);
      if (has_regions && uses_[base] == 1 && !is_wanted_whole(base)) {
        out_.of[base] = {.how = How::updated_with, .why = {}, .with = v};
      }
    }
  }

  /// What is written region by region, and only elementwise ops read it on the way to values that are stored, or
  /// folded, need not be: those are made part by part.
  void find_parts() {
    for (const Node& node : graph_.nodes) {
      if (!is_written_by_regions(node.op)) continue;
      const ValueId whole = node.results[0];
      if (out_.of[whole].how != How::stored || is_wanted_whole(whole)) continue;
      if (readers_.size() == 0) readers_ = find_readers(graph_);
      const std::vector<ValueId> stored = stored_beyond(whole);
      if (stored.empty()) continue;
      const std::vector<ValueId> parts = parts_of(whole, node, stored);
      const auto fits = [&](ValueId v) { return !out_.of[v].with.valid() && parts_stay_short(parts, v); };
      if (parts.empty() || !std::ranges::all_of(stored, fits)) continue;
      for (ValueId v : stored) {
        out_.of[v].with = whole;
        if (out_.of[v].how == How::stored) kernel::offer(out_.of[v].why, {StoredFor::by_parts, {}});
      }
      out_.of[whole] = {.how = How::in_parts, .why = {}};
    }
  }

  /// What each part is made of; none where it cannot be made by parts, of which `stored` is made.
  std::vector<ValueId> parts_of(ValueId whole, const Node& node, std::span<const ValueId> stored) {
    if (node.op == Op::concat) {
      // Of an axis of size 1 every point is the same place, and does not tell which part has it: the others are empty.
      if (graph_.type(whole).dims[static_cast<std::size_t>(node.axes[0])].is(1)) return {};
      return {node.operands.begin(), node.operands.end()};
    }
    const bool all_fold = std::ranges::all_of(stored, [&](ValueId v) { return graph_.node_of(v)->op == Op::reduce; });
    const ReadBy by = all_fold ? ReadBy::folds : ReadBy::stores;
    std::optional<Regions> regions = regions_side_by_side(graph_, whole, out_, by);
    if (!regions) return {};
    std::vector<ValueId> out(regions->left.boxes.size(), graph_.node_of(regions->updates.front())->operands[0]);
    for (ValueId update : regions->updates) out.push_back(graph_.node_of(update)->operands[1]);
    out_.regions[whole] = std::move(*regions);
    return out;
  }

  /// Each part repeats the ops behind the whole, and has them in its body.
  bool parts_stay_short(std::span<const ValueId> parts, ValueId stored) {
    const Node& made_by = *graph_.node_of(stored);
    const int behind = cones_.of(made_by.op == Op::reduce ? made_by.operands[0] : stored, forced_.values).ops;
    int longest = 0;
    for (ValueId part : parts) longest = std::max(longest, cones_.of(part, forced_.values).ops);
    return behind + longest <= caps_.max_body_ops && behind * static_cast<int>(parts.size()) <= caps_.max_body_ops;
  }

  /// The stored values of the same shape that elementwise ops make of `v`, and what folds one. None where something
  /// else reads it, or what lies between.
  std::vector<ValueId> stored_beyond(ValueId v) const {
    const std::vector<Dim>& dims = graph_.type(v).dims;
    if (has_one_element(graph_.type(v))) return {};
    std::vector<ValueId> stored, todo = {v}, seen = todo;
    while (!todo.empty()) {
      const ValueId next = todo.back();
      todo.pop_back();
      for (NodeId id : readers_[next]) {
        const Node& reader = graph_.nodes[id];
        const ValueId made = reader.results[0];
        const bool is_elementwise = reader.op == Op::scalar || reader.op == Op::cast;
        const bool folds_parts = combines_elements(reader) && out_.of[made].folds > 0;
        if (!folds_parts && (!is_elementwise || graph_.type(made).dims != dims)) return {};
        if (!is_needed(made) || std::ranges::find(seen, made) != seen.end()) continue;
        seen.push_back(made);
        const bool ends = folds_parts || is_stored(out_.of[made].how);
        (ends ? stored : todo).push_back(made);
      }
    }
    return stored;
  }

  // --- what is made where it is returned ---

  void place_in_outputs() {
    const auto num_slots = static_cast<int>(graph_.outputs.size());
    for (int slot = 0; slot < num_slots; ++slot) {
      Decision& returned = out_.of[graph_.outputs[slot].value];
      if (returned.how == How::stored && returned.slot < 0) returned.slot = slot;
    }
    if (graph_.is_body) return;  // its outputs may be rows of a trace, by their maps
    for (int slot = 0; slot < num_slots; ++slot) place_under_other_shape(slot);
  }

  /// A sum with its axis kept is the sum under another shape.
  void place_under_other_shape(int slot) {
    const ValueId v = graph_.outputs[slot].value;
    const Node* node = graph_.node_of(v);
    if (!node || node->op != Op::reshape) return;
    Decision &shown = out_.of[node->operands[0]], &returned = out_.of[v];
    if (shown.how != How::stored || shown.slot >= 0 || !is_known_with(v, node->operands[0])) return;
    shown.slot = returned.slot = slot;
    if (returned.how == How::view) return;
    // (What is wanted whole may be read through several indices, which only a buffer of its own shape can take.)
    returned.how = is_wanted_whole(v) ? How::view : How::inlined;
    if (returned.how == How::view) returned.with = node->operands[0];
  }

  /// Is the size of `v` known where that of `other` is? Not where it is bound on the way.
  bool is_known_with(ValueId v, ValueId other) const {
    std::vector<SymbolId> before;
    for (const Dim& dim : graph_.type(other).dims) std::ranges::copy(dim.symbols(), std::back_inserter(before));
    return std::ranges::all_of(graph_.type(v).dims, [&](const Dim& dim) {
      return std::ranges::all_of(dim.symbols(), [&](SymbolId s) {
        return !graph_.binder_of(s).valid() || std::ranges::find(before, s) != before.end();
      });
    });
  }

  OutputDecision returned(int slot) const {
    const ValueId v = graph_.outputs[slot].value;
    const Decision& value = out_.of[v];
    if (value.slot == slot) return {};
    // A body's outputs are written by points: so that they may be rows, or joined by the loop that makes the value.
    if (graph_.is_body && value.how != How::view && graph_.type(v).dtype != DType::opaque)
      return {Returned::by_points, ""};
    switch (value.how) {
      case How::view: return {Returned::copied, "returned under another shape"};
      case How::given: return {Returned::copied, "an output never shares the bytes of an input"};
      case How::hosted: return {Returned::copied, "made by a host call, in the host's memory"};
      case How::constant: return {Returned::copied, "a constant is returned"};
      case How::stored: return {Returned::copied, "returned more than once"};
      case How::unneeded:
      case How::inlined:
      case How::number:
      case How::updated_with:
      case How::in_parts: break;
    }
    return {Returned::by_points, ""};
  }

  const Graph& graph_;
  const kernel::BackendCaps& caps_;
  Cones& cones_;
  const Forced& forced_;
  const IdMap<ValueId, int>& uses_;
  IdMap<ValueId, bool> needed_;
  IdMap<ValueId, bool> required_;
  IdMap<ValueId, SmallVector<NodeId, 2>> readers_;  // empty: not asked for yet
  Decisions out_;
};

constexpr std::array<std::string_view, 10> kHowNames = {"unneeded", "given",  "inlined", "constant",     "number",
                                                        "stored",   "hosted", "view",    "updated-with", "in-parts"};

constexpr std::array<std::string_view, 5> kBeginNames = {"nothing", "fill", "copy", "computed", "left-over"};

}  // namespace

std::string_view begin_name(Begin begin) { return kBeginNames[static_cast<std::size_t>(begin)]; }

std::string_view how_name(How how) { return kHowNames[static_cast<std::size_t>(how)]; }

Decisions decide(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
                 const IdMap<ValueId, int>& uses) {
  return Decider(graph, caps, cones, forced, uses).decide();
}

namespace {

/// How many regions write it, if several, and how many boxes of the base they leave.
std::string regions_text(const Decisions& round, ValueId v) {
  const auto found = round.regions.find(v);
  if (found == round.regions.end()) return "";
  const std::size_t regions = found->second.updates.size(), left = found->second.left.boxes.size();
  return str(regions > 1 ? str(", ", regions, " regions") : "", left > 0 ? str(", ", left, " left") : "");
}

}  // namespace

std::string text_of(const Graph& graph, const Decisions& round, const Decisions& before) {
  std::vector<std::vector<std::string>> rows = {{"value", "how", "with", "why"}};
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    const Decision& now = round[v];
    if (v.index < before.of.size() && before[v] == now) continue;
    std::string how(how_name(now.how));
    if (now.slot >= 0) how += str(" in out", now.slot);
    if (now.begin != Begin::nothing) how += str(", begins: ", begin_name(now.begin));
    if (now.folds > 1) how += str(" by ", now.folds, " folds");
    how += regions_text(round, v);
    for (std::size_t dim = 0; dim < graph.type(v).dims.size(); ++dim) {
      if (round.directions.is_from_end(v, dim)) how += str(", from the end along ", dim);
    }
    rows.push_back({graph.name_text(v), std::move(how), now.with.valid() ? graph.name_text(now.with) : "",
                    kernel::stored_text(now.why)});
  }
  for (std::size_t slot = 0; slot < round.outputs.size(); ++slot) {
    const OutputDecision& now = round.outputs[slot];
    if (now.how == Returned::in_place || (slot < before.outputs.size() && before.outputs[slot] == now)) continue;
    rows.push_back({str("out", slot), now.how == Returned::copied ? "copied" : "by points",
                    graph.name_text(graph.outputs[slot].value), now.why});
  }
  return table(rows);
}

}  // namespace inlay::fuse
