#include <algorithm>
#include <utility>

#include "fuse/cut.h"
#include "ir/region.h"

namespace inlay::fuse {

using kernel::Start;

namespace {

/// Where the bodies read a value of the outside.
BufferId captured(Cut& cut, ValueId v, Piece& reader) {
  const Home& home = cut.homes[v];
  reader.step_operands.push_back(v);
  const Node* node = cut.graph.node_of(v);
  const bool is_literal = node && node->op == Op::literal;
  if (home.buffer.valid() || (!is_literal && home.memory.valid())) return home.place();
  INLAY_CHECK(is_literal, "a value without a home is read in a body: ", cut.graph.describe(v));
  return cut.buffers.new_literal(v);
}

Piece region_piece(const Node& node) {
  Piece piece{.value = node.results[0]};
  for (SymbolId s : node.region.count.symbols()) piece.step_symbols.push_back(s);
  for (const auto& body : node.region.bodies) {
    for (SymbolId s : given_symbols_in(*body)) piece.step_symbols.push_back(s);
  }
  return piece;
}

FusedBody fused(const FusedBodies& bodies, const std::shared_ptr<const Graph>& body) {
  return {bodies.at(body.get()), body->num_given};
}

}  // namespace

void cut_cond(Cut& cut, const FusedBodies& bodies, const Node& node) {
  Piece piece = region_piece(node);
  CondBuffers buffers{.condition = captured(cut, node.operands[0], piece)};
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    buffers.captured.push_back(captured(cut, node.operands[i], piece));
  }
  for (ValueId v : node.results) buffers.results.push_back(cut.new_home(v));
  piece.steps =
      cond_steps(cut.program, buffers, fused(bodies, node.region.bodies[0]), fused(bodies, node.region.bodies[1]));
  add_call(cut, node, std::move(piece));
}

void cut_loop(Cut& cut, const FusedBodies& bodies, const Node& node) {
  Piece piece = region_piece(node);
  LoopBuffers buffers{.count = node.region.count, .has_condition = node.region.has_condition};
  const auto num_carried = static_cast<std::size_t>(node.region.num_carried);
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (i >= num_carried) {
      buffers.captured.push_back(captured(cut, node.operands[i], piece));
      continue;
    }
    buffers.carried.push_back(cut.new_home(node.results[i]));
    if (kernel::is_handle(cut.program.buffers[buffers.carried.back()])) {
      piece.steps.emplace_back(
          kernel::Copy{captured(cut, node.operands[i], piece), buffers.carried.back(), "the first value"});
      continue;
    }
    Piece initial = elementwise(cut.graph, node.operands[i], buffers.carried.back(), /*defines=*/false);
    initial.value = initial.writes[0].target = node.results[i];
    piece.after.push_back(cut.pieces.push_back(std::move(initial)));
  }
  for (std::size_t i = num_carried; i < node.results.size(); ++i) {
    const ValueId trace = node.results[i];
    buffers.traces.push_back(cut.new_home(trace));
    if (!node.region.has_condition) continue;
    // Rows that are not reached.
    Piece zeros{.value = trace};
    const Literal zero = Literal::of(cut.graph.type(trace).dtype, 0);
    zeros.starts.push_back({buffers.traces.back(), {Start::Kind::fill, zero, {}}});
    piece.after.push_back(cut.pieces.push_back(std::move(zeros)));
  }
  std::ranges::move(loop_steps(cut.program, buffers, fused(bodies, node.region.bodies[0])),
                    std::back_inserter(piece.steps));
  add_call(cut, node, std::move(piece));
}

}  // namespace inlay::fuse
