#include <algorithm>
#include <utility>

#include "fuse/cutter.h"
#include "ir/library_types.h"
#include "ir/region.h"
#include "ops/library_workspace.h"

namespace inlay::fuse {

using kernel::Buffer;
using kernel::Role;

/// The buffer of `v` whose bytes a call can read.
BufferId Cutter::in_memory(ValueId v, Piece& reader) {
  Home& home = out_.homes[v];
  const bool literal = graph_.node_of(v) && graph_.node_of(v)->op == Op::literal;
  reader.after.insert(reader.after.end(), home.pieces.begin(), home.pieces.end());
  if (home.buffer.valid() && program_.buffers[home.buffer].role != Role::scalar) return home.buffer;
  if (!home.memory.valid()) {
    INLAY_CHECK(home.buffer.valid() || literal, "a value without a home is read by a call: ", graph_.describe(v));
    home.memory = new_temporary(v);
    Piece piece = elementwise(v, home.memory, /*defines=*/false);
    piece.value = v;
    memory_piece_[v] = out_.pieces.push_back(std::move(piece));
  }
  if (memory_piece_.contains(v)) reader.after.push_back(memory_piece_[v]);
  return home.memory;
}

void Cutter::library_call(const Node& node) {
  Piece piece;
  kernel::LibraryCall call{.op = node.library, .options = node.library_options, .sizes = library_sizes(graph_, node)};
  for (LibraryOperand operand : decisions_.operands.at(graph_.values[node.results[0]].node)) {
    operand.array.buffer = in_memory(operand.base, piece);
    if (operand.index.valid()) operand.array.index = out_.homes[operand.index].buffer;
    call.operands.push_back(std::move(operand.array));
    piece.step_operands.push_back(operand.base);
  }
  const LibrarySignature& signature = facts(node.library).signature;
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    call.results.push_back(row_major_array(call, signature.results[r], new_home(node.results[r])));
  }
  const std::vector<Dim> sizes(call.sizes.begin() + 1, call.sizes.end());
  const Dim bytes = library_workspace_bytes(node.library, graph_.type(node.operands[0]).dtype, sizes);
  if (!bytes.is(0)) call.workspace = new_workspace(node, bytes);
  call.sites = library_sites(node);
  // What is asserted before it may be why it fails: that is said first.
  const bool may_fail = call.sites.size() >= static_cast<std::size_t>(kernel::LibraryStatus::failed);
  if (may_fail) piece.after.insert(piece.after.end(), before_host_call_.begin(), before_host_call_.end());
  piece.steps = {std::move(call)};
  piece.value = node.results[0];
  const PieceId id = out_.pieces.push_back(std::move(piece));
  for (ValueId result : node.results) out_.homes[result].pieces.push_back(id);
}

BufferId Cutter::new_workspace(const Node& node, const Dim& bytes) {
  const std::string_view op = facts(node.library).name;
  Buffer workspace{.name = unique_name(str("workspace of ", op)), .dtype = DType::u8, .dims = {bytes}};
  workspace.stored = {kernel::StoredFor::workspace, std::string(op)};
  return program_.buffers.push_back(std::move(workspace));
}

/// By LibraryStatus.
std::vector<kernel::SiteId> Cutter::library_sites(const Node& node) {
  std::vector<kernel::SiteId> out;
  const LibraryOpFacts& row = facts(node.library);
  if (row.dtypes == LibraryOpFacts::DTypes::Ordered) return out;
  out.push_back(program_.sites.push_back(
      {ErrorCode::size_overflow, str(row.name, ": a size is beyond 2147483647"), {}, node.location}));
  if (row.failure.empty() || has(node.library_options, LibraryOption::nan)) return out;
  std::vector<std::pair<std::string, std::string>> notes;
  for (ValueId v : node.operands) notes.emplace_back("operand", graph_.describe(v));
  out.push_back(program_.sites.push_back(
      {ErrorCode::factorization_failed, failure_message(node.library), std::move(notes), node.location}));
  return out;
}

/// Of a result with another shape than its type says, met when the call has returned.
kernel::SiteId Cutter::host_site(const Node& node) {
  std::vector<std::pair<std::string, std::string>> notes;
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    notes.emplace_back(str("result ", r), graph_.describe(node.results[r]));
  }
  return program_.sites.push_back({ErrorCode::shape_mismatch,
                                   str(node.text, ": axis {3} of result {2} has {0} elements, not {1}"),
                                   std::move(notes), node.location});
}

void Cutter::host_call(const Node& node) {
  Piece piece;
  kernel::HostCall call{.name = node.text, .function = node.host_function};
  for (ValueId operand : node.operands) call.operands.push_back(in_memory(operand, piece));
  for (std::size_t r = 0; r < node.results.size(); ++r) {
    const ValueId result = node.results[r];
    call.results.push_back(new_home(result));
    for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
      if (graph_.symbols[s].source == result) {
        call.bindings.push_back({s, static_cast<int>(r), graph_.symbols[s].axis});
      }
    }
  }
  call.site = host_site(node);
  piece.steps = {std::move(call)};
  add_call(node, std::move(piece));
}

/// A piece that makes all results of a node.
void Cutter::add_call(const Node& node, Piece piece) {
  piece.value = node.results[0];
  const bool effects = has_effects(node);
  // It may have effects, and what stands behind an assert may rely on it: in program order.
  if (effects) piece.after.insert(piece.after.end(), before_host_call_.begin(), before_host_call_.end());
  const PieceId id = out_.pieces.push_back(std::move(piece));
  for (ValueId result : node.results) out_.homes[result].pieces.push_back(id);
  if (effects) before_host_call_ = {id};
}

}  // namespace inlay::fuse
