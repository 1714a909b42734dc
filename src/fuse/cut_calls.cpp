#include <algorithm>
#include <utility>

#include "fuse/cut.h"
#include "ir/region.h"
#include "ops/library_workspace.h"

namespace inlay::fuse {

using kernel::Role;

namespace {

/// The buffer of `v` whose bytes a call can read.
BufferId in_memory(Cut& cut, ValueId v, Piece& reader) {
  Home& home = cut.homes[v];
  const bool literal = cut.graph.node_of(v) && cut.graph.node_of(v)->op == Op::literal;
  reader.after.insert(reader.after.end(), home.pieces.begin(), home.pieces.end());
  if (home.buffer.valid() && cut.program.buffers[home.buffer].role != Role::scalar) return home.buffer;
  if (!home.memory.valid()) {
    INLAY_CHECK(home.buffer.valid() || literal, "a value without a home is read by a call: ", cut.graph.describe(v));
    home.memory = cut.buffers.new_temporary(v);
    Piece piece = elementwise(cut.graph, v, home.memory, /*defines=*/false);
    piece.value = v;
    home.memory_piece = cut.pieces.push_back(std::move(piece));
  }
  if (home.memory_piece.valid()) reader.after.push_back(home.memory_piece);
  return home.memory;
}

/// By LibraryStatus.
std::vector<kernel::SiteId> library_sites(Cut& cut, const Node& node) {
  std::vector<kernel::SiteId> out;
  const LibraryOpFacts& row = facts(node.library);
  if (row.dtypes == LibraryOpFacts::DTypes::Ordered) return out;
  out.push_back(cut.program.sites.push_back(
      {ErrorCode::size_overflow, str(row.name, ": a size is beyond 2147483647"), {}, node.location}));
  if (row.failure.empty() || has(node.library_options, LibraryOption::nan)) return out;
  std::vector<std::pair<std::string, std::string>> notes;
  for (ValueId v : node.operands) notes.emplace_back("operand", cut.graph.describe(v));
  out.push_back(cut.program.sites.push_back(
      {ErrorCode::factorization_failed, failure_message(node.library), std::move(notes), node.location}));
  return out;
}

/// Of a result with another shape than its type says, met when the call has returned.
kernel::SiteId host_site(Cut& cut, const Node& node) {
  std::vector<std::pair<std::string, std::string>> notes;
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    notes.emplace_back(str("result ", r), cut.graph.describe(node.results[r]));
  }
  return cut.program.sites.push_back({ErrorCode::shape_mismatch,
                                      str(node.text, ": axis {3} of result {2} has {0} elements, not {1}"),
                                      std::move(notes), node.location});
}

}  // namespace

void cut_library_call(Cut& cut, const Node& node) {
  Piece piece;
  kernel::LibraryCall call{
      .op = node.library, .options = node.library_options, .sizes = library_sizes(cut.graph, node)};
  for (LibraryOperand operand : cut.decisions.operands.at(cut.graph.values[node.results[0]].node)) {
    operand.array.buffer = in_memory(cut, operand.base, piece);
    if (operand.index.valid()) operand.array.index = cut.homes[operand.index].buffer;
    call.operands.push_back(std::move(operand.array));
    piece.step_operands.push_back(operand.base);
  }
  const LibrarySignature& signature = facts(node.library).signature;
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    call.results.push_back(row_major_array(call, signature.results[r], cut.new_home(node.results[r])));
  }
  const std::vector<Dim> sizes(call.sizes.begin() + 1, call.sizes.end());
  const Dim bytes = library_workspace_bytes(node.library, cut.graph.type(node.operands[0]).dtype, sizes);
  if (!bytes.is(0)) call.workspace = cut.buffers.new_workspace(facts(node.library).name, bytes);
  call.sites = library_sites(cut, node);
  // What is asserted before it may be why it fails: that is said first.
  const bool may_fail = call.sites.size() >= static_cast<std::size_t>(kernel::LibraryStatus::failed);
  if (may_fail) piece.after.insert(piece.after.end(), cut.before_host_call.begin(), cut.before_host_call.end());
  piece.steps = {std::move(call)};
  add_call(cut, node, std::move(piece));
}

void cut_host_call(Cut& cut, const Node& node) {
  Piece piece;
  kernel::HostCall call{.name = node.text, .function = node.host_function};
  for (ValueId operand : node.operands) call.operands.push_back(in_memory(cut, operand, piece));
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    const ValueId result = node.results[r];
    call.results.push_back(cut.new_home(result));
    for (SymbolId s : ids<SymbolId>(cut.graph.symbols.size())) {
      if (cut.graph.symbols[s].source == result) {
        call.bindings.push_back({s, static_cast<int>(r), cut.graph.symbols[s].axis});
      }
    }
  }
  call.site = host_site(cut, node);
  piece.steps = {std::move(call)};
  add_call(cut, node, std::move(piece));
}

void add_call(Cut& cut, const Node& node, Piece piece) {
  piece.value = node.results[0];
  const bool effects = has_effects(node);
  // It may have effects, and what stands behind an assert may rely on it: in program order.
  if (effects) piece.after.insert(piece.after.end(), cut.before_host_call.begin(), cut.before_host_call.end());
  const PieceId id = cut.pieces.push_back(std::move(piece));
  for (ValueId result : node.results) cut.homes[result].pieces.push_back(id);
  if (effects) cut.before_host_call = {id};
}

}  // namespace inlay::fuse
