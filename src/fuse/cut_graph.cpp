#include "fuse/cut_graph.h"

#include <algorithm>
#include <utility>

#include "fuse/cut.h"

namespace inlay::fuse {

using kernel::KernelProgram;
using kernel::Statement;
using kernel::StoredFor;

namespace {

class Cutter {
 public:
  Cutter(const Graph& graph, const Decisions& decisions, const FusedBodies& bodies, KernelProgram& program)
      : cut_(graph, decisions, program), bodies_(bodies) {}
  Pieces run();

 private:
  void bring(ValueId v);
  void make(ValueId v, const Node& node);
  void make_elements(ValueId v);
  void show(ValueId v, ValueId operand);
  void check(ValueId v, const Node& node);
  void make_output(int slot);

  Cut cut_;
  const FusedBodies& bodies_;
};

Pieces Cutter::run() {
  for (std::size_t slot = 0; slot < cut_.graph.params.size(); ++slot) {
    cut_.homes[cut_.graph.params[slot].value].buffer = cut_.buffers.new_param(static_cast<int>(slot));
  }
  for (ValueId v : ids<ValueId>(cut_.graph.values.size())) {
    bring(v);
  }
  for (std::size_t slot = 0; slot < cut_.graph.outputs.size(); ++slot) make_output(static_cast<int>(slot));
  return {std::move(cut_.homes), std::move(cut_.pieces)};
}

void Cutter::bring(ValueId v) {
  const Decision& decision = cut_.decisions[v];
  const Node* node = cut_.graph.node_of(v);
  if (!node || decision.how == How::unneeded) return;
  if (node->op == Op::assert_) check(v, *node);
  switch (decision.how) {
    case How::unneeded:
    case How::given:
    case How::updated_with:
    case How::in_parts: return;
    case How::inlined:
      if (decision.slot >= 0) show(v, node->operands[0]);
      return;
    case How::view: return show(v, node->operands[0]);
    case How::constant: cut_.homes[v].buffer = cut_.buffers.new_literal(v); return;
    case How::number:
    case How::stored:
    case How::hosted: return make(v, *node);
  }
}

void Cutter::make(ValueId v, const Node& node) {
  const bool is_first = v == node.results[0];  // with which all results are made
  switch (node.op) {
    case Op::host_call: return is_first ? cut_host_call(cut_, node) : void();
    case Op::cond: return is_first ? cut_cond(cut_, bodies_, node) : void();
    case Op::loop: return is_first ? cut_loop(cut_, bodies_, node) : void();
    case Op::library: return is_first ? cut_library_call(cut_, node) : void();
    case Op::compress: return is_first ? cut_compress(cut_, node) : void();
    case Op::reduce:
      if (cut_.decisions[v].folds == 0) return make_elements(v);
      return is_first ? cut_reduction(cut_, node) : void();
    case Op::update:
    case Op::scatter:
    case Op::concat: return cut_regions(cut_, v);
    case Op::cumulative: return cut_cumulative(cut_, v, node);
    case Op::as_size: return cut_as_size(cut_, v, node);
    default: return make_elements(v);
  }
}

void Cutter::make_elements(ValueId v) {
  if (cut_.compress_with(v)) return;  // it makes all that its mask selects
  const BufferId buffer = cut_.new_home(v);
  if (const ValueId whole = cut_.whole_below(v); whole.valid()) {
    for (PieceOfWhole& one : parts_of(cut_, whole)) {
      Piece piece = over(std::move(one.loop), v, buffer, /*defines=*/true);
      piece.of_whole = std::move(one.part);
      cut_.add(v, std::move(piece));
    }
    return;
  }
  Loop loop = loop_over(cut_.graph.type(v).dims);
  cut_.decisions.directions.apply(v, loop);
  cut_.add(v, over(std::move(loop), v, buffer, /*defines=*/true));
}

/// Under its own shape. What an output shows has been written in its place: loops ask for that where they can, so that
/// all of them name the bytes alike.
void Cutter::show(ValueId v, ValueId operand) {
  const Decision& decision = cut_.decisions[v];
  const Home& source = cut_.homes[operand];
  Home& home = cut_.homes[v];
  const BufferId shown =
      decision.slot >= 0 ? cut_.program.outputs[decision.slot] : cut_.buffers.new_view(v, source.place());
  (decision.how == How::view ? home.buffer : home.memory) = shown;
  home.pieces = source.pieces;
}

void Cutter::check(ValueId v, const Node& node) {
  const ValueId condition = node.operands[1];
  Piece piece;
  piece.writes.push_back({.kind = Statement::Kind::check, .value = condition, .target = v});
  cut_.before_host_call.push_back(cut_.pieces.push_back(std::move(piece)));
}

void Cutter::make_output(int slot) {
  const ValueId v = cut_.graph.outputs[slot].value;
  const OutputDecision& decision = cut_.decisions.outputs[slot];
  if (decision.how == Returned::in_place) return;
  const BufferId buffer = cut_.buffers.new_output(v, slot);
  if (decision.how == Returned::by_points) {
    Piece piece = elementwise(cut_.graph, v, buffer, /*defines=*/false);
    piece.value = v;
    cut_.pieces.push_back(std::move(piece));
    return;
  }
  const Home& home = cut_.homes[v];
  cut_.buffers.because(home.buffer, {StoredFor::copied, decision.why});
  Piece piece{.value = v, .steps = {kernel::Copy{home.buffer, buffer, decision.why}}, .after = home.pieces};
  cut_.pieces.push_back(std::move(piece));
}

}  // namespace

Pieces cut(const Graph& graph, const Decisions& decisions, const FusedBodies& bodies,
           std::span<const UnreadCheck> checks, KernelProgram& program) {
  program.outputs.assign(graph.outputs.size(), BufferId());
  Pieces out = Cutter(graph, decisions, bodies, program).run();
  for (const UnreadCheck& check : checks) out.pieces.push_back(piece_of(graph, check));
  return out;
}

}  // namespace inlay::fuse
