#include "fuse/materialize.h"

#include <algorithm>
#include <utility>

#include "fuse/cutter.h"
#include "fuse/view_maps.h"
#include "ir/library_types.h"

namespace inlay::fuse {

using kernel::Buffer;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Statement;

Pieces Cutter::run() {
  for (std::size_t slot = 0; slot < graph_.outputs.size(); ++slot) {
    int& first = first_slot_[graph_.outputs[slot].value];
    if (first < 0) first = static_cast<int>(slot);
  }
  find_reshaped_outputs();
  for (std::size_t slot = 0; slot < graph_.params.size(); ++slot) make_param(static_cast<int>(slot));
  for (ValueId v : ids<ValueId>(graph_.values.size())) {
    materialize(v);
  }
  for (std::size_t slot = 0; slot < graph_.outputs.size(); ++slot) make_output(static_cast<int>(slot));
  out_.needed = needs_.needed;
  return std::move(out_);
}

/// The name, with as many quotes as it takes.
std::string Cutter::unique_name(std::string name) {
  const auto [used, is_new] = names_.emplace(name, 0);
  if (is_new) return name;
  int& quotes = used->second;  // a reference stays where it is when others come
  do {
    ++quotes;
  } while (!names_.emplace(name + std::string(static_cast<std::size_t>(quotes), '\''), 0).second);
  return name + std::string(static_cast<std::size_t>(quotes), '\'');
}

std::string Cutter::unique_name(ValueId v) { return unique_name(graph_.name_text(v)); }

BufferId Cutter::new_buffer(ValueId v, Role role, int slot) {
  const TensorType& type = graph_.type(v);
  Buffer buffer{.name = unique_name(v), .dtype = type.dtype, .dims = type.dims, .role = role, .slot = slot};
  buffer.value = v;
  return program_.buffers.push_back(std::move(buffer));
}

/// A sum with its axis kept is the sum under another shape. (A body's outputs may be rows of a trace, by their maps.)
void Cutter::find_reshaped_outputs() {
  if (graph_.is_body) return;
  for (std::size_t slot = 0; slot < graph_.outputs.size(); ++slot) {
    const ValueId v = graph_.outputs[slot].value;
    const Node* node = graph_.node_of(v);
    if (!node || node->op != Op::reshape || first_slot_[v] != static_cast<int>(slot)) continue;
    const ValueId source = node->operands[0];
    const bool is_free = first_slot_[source] < 0 && reshaped_slot_[source] < 0;
    if (is_free && is_known_with(v, source)) reshaped_slot_[source] = static_cast<int>(slot);
  }
}

/// Is the size of `v` known where that of `other` is? Not where it is bound on the way.
bool Cutter::is_known_with(ValueId v, ValueId other) const {
  std::vector<SymbolId> before;
  for (const Dim& dim : graph_.type(other).dims) std::ranges::copy(dim.symbols(), std::back_inserter(before));
  return std::ranges::all_of(graph_.type(v).dims, [&](const Dim& dim) {
    return std::ranges::all_of(dim.symbols(), [&](SymbolId s) {
      return !graph_.node_of(graph_.symbols[s].source) || std::ranges::find(before, s) != before.end();
    });
  });
}

/// Where the bytes of a stored value go: straight into the output if it is returned, if only under another shape.
BufferId Cutter::new_memory(ValueId v) {
  if (const int slot = first_slot_[v]; slot >= 0) return new_output_buffer(v, slot);
  const int slot = reshaped_slot_[v];
  if (slot < 0 || program_.outputs[slot].valid()) {
    const BufferId buffer = new_buffer(v, Role::temporary);
    if (const auto why = needs_.because.find(v); why != needs_.because.end()) {
      program_.buffers[buffer].stored = why->second;
    }
    return buffer;
  }
  const BufferId output = new_output_buffer(graph_.outputs[slot].value, slot);
  return new_view(v, output);
}

BufferId Cutter::new_view(ValueId v, BufferId of) {
  const BufferId buffer = new_buffer(v, program_.buffers[of].role, program_.buffers[of].slot);
  program_.buffers[buffer].view_of = kernel::root_of(program_, of);
  return buffer;
}

BufferId Cutter::new_output_buffer(ValueId v, int slot) {
  const BufferId buffer = new_buffer(v, Role::output, slot);
  if (!graph_.outputs[slot].name.empty()) program_.buffers[buffer].name = rename(buffer, graph_.outputs[slot].name);
  program_.outputs[slot] = buffer;
  return buffer;
}

std::string Cutter::rename(BufferId buffer, const std::string& name) {
  return names_.emplace(name, 0).second ? name : program_.buffers[buffer].name;
}

void Cutter::make_param(int slot) {
  const Param& param = graph_.params[slot];
  const BufferId buffer = new_buffer(param.value, Role::param, slot);
  program_.buffers[buffer].dims = given_dims(graph_, param);
  program_.buffers[buffer].bound = param.bound;
  program_.buffers[buffer].donated = param.donated;
  program_.buffers[buffer].facts = param.facts;
  program_.params.push_back(buffer);
  out_.homes[param.value].buffer = buffer;
}

PieceId Cutter::add(ValueId v, Piece piece) {
  piece.value = v;
  const PieceId id = out_.pieces.push_back(std::move(piece));
  out_.homes[v].pieces.push_back(id);
  return id;
}

/// `buffer`[every element of v] = v.
Piece Cutter::elementwise(ValueId v, BufferId buffer, bool defines) {
  return over(loop_over(graph_.type(v).dims), v, buffer, defines);
}

Piece Cutter::over(Loop loop, ValueId v, BufferId buffer, bool defines) {
  Piece piece{.axes = std::move(loop.axes)};
  piece.writes.push_back(
      {.buffer = buffer, .map = loop.at, .value = v, .at = loop.at, .defines = defines, .target = v});
  return piece;
}

/// Once, and only what is needed and no part of what is made as a whole.
void Cutter::materialize(ValueId v) {
  const Node* node = graph_.node_of(v);
  if (!needs_.needed[v] || !node || regions_.written_by[v].valid() || regions_.made_by_parts[v]) return;
  if (is_made_[v]) return;
  is_made_[v] = true;
  materialize(v, *node);
}

void Cutter::materialize(ValueId v, const Node& node) {
  switch (node.op) {
    case Op::literal:
      if (!has_one_element(graph_.type(v))) {
        out_.homes[v].buffer = new_buffer(v, Role::literal);
        program_.buffers[out_.homes[v].buffer].elements = node.elements;
      }
      return;
    case Op::host_call:
      if (v == node.results[0]) host_call(node);
      return;
    case Op::cond:
      if (v == node.results[0]) cond(node);
      return;
    case Op::loop:
      if (v == node.results[0]) loop(node);
      return;
    case Op::library:
      if (v == node.results[0]) library_call(node);
      return;
    case Op::update:
    case Op::scatter: return regions(v);
    case Op::cumulative: return cumulative(v, node);
    case Op::compress:
      if (v == node.results[0]) compress(node);
      return;
    case Op::concat: return regions(v);
    case Op::reduce:
      if (!is_unrolled(graph_, node, caps_)) return reduce(node);
      break;
    case Op::fold:
      if (v == node.results[0]) reduce(node);
      return;
    case Op::reshape:
      if (first_slot_[v] >= 0 && program_.outputs[first_slot_[v]].valid()) return returned_view(v, node);
      if (!reshape_is_map(graph_, node)) return view(v, node);
      break;
    case Op::assert_: check(v, node); break;
    case Op::as_size: return as_size(v, node);
    default: break;
  }
  if (!is_stored(v)) return;
  const BufferId buffer = has_one_element(graph_.type(v)) ? new_buffer(v, Role::scalar) : new_memory(v);
  out_.homes[v].buffer = buffer;
  if (const ValueId concat = regions_.concat_in[v]; concat.valid()) return by_parts(v, *graph_.node_of(concat));
  add(v, over(directions_.loop_over(v), v, buffer, /*defines=*/true));
}

bool Cutter::is_stored(ValueId v) const { return fuse::is_stored(graph_, cones_, forced_, needs_, v); }

void Cutter::by_parts(ValueId v, const Node& concat) {
  for (ConcatPart& part : parts_of(graph_, concat)) {
    Piece piece{.axes = std::move(part.loop.axes)};
    piece.writes.push_back({.buffer = out_.homes[v].buffer,
                            .map = part.in_whole,
                            .value = v,
                            .at = part.in_whole,
                            .defines = true,
                            .target = v});
    add(v, std::move(piece));
  }
}

void Cutter::view(ValueId v, const Node& node) {
  const Home& source = out_.homes[node.operands[0]];
  out_.homes[v] = {new_view(v, source.place()), {}, source.pieces};
}

/// What it shows has been written in its place. Loops ask for that, so that all of them name the bytes alike.
void Cutter::returned_view(ValueId v, const Node& node) {
  const BufferId output = program_.outputs[first_slot_[v]];
  out_.homes[v] = {{}, output, out_.homes[node.operands[0]].pieces};
  if (!reshape_is_map(graph_, node)) out_.homes[v].buffer = output;
}

void Cutter::check(ValueId v, const Node& node) {
  const ValueId condition = node.operands[1];
  Piece piece;
  piece.writes.push_back({.kind = Statement::Kind::check, .value = condition, .target = v});
  before_host_call_.push_back(out_.pieces.push_back(std::move(piece)));
}

void Cutter::make_output(int slot) {
  const ValueId v = graph_.outputs[slot].value;
  if (program_.outputs[slot].valid()) return;  // its pieces write there
  const Home& home = out_.homes[v];
  const BufferId buffer = new_output_buffer(v, slot);
  const bool in_bytes = home.buffer.valid() && program_.buffers[home.buffer].role != Role::scalar;
  // A body's outputs are written by points: so that they may be rows, or joined by the loop that makes the value.
  const bool by_points = graph_.is_body && in_bytes && !kernel::is_handle(program_.buffers[home.buffer]) &&
                         !program_.buffers[home.buffer].view_of.valid();
  if (!in_bytes || by_points) {  // a one-element value, or a literal
    Piece piece = elementwise(v, buffer, /*defines=*/false);
    piece.value = v;
    out_.pieces.push_back(std::move(piece));
    return;
  }
  const bool view = program_.buffers[home.buffer].view_of.valid();
  const Role role = program_.buffers[home.buffer].role;
  const char* reason = view                    ? "returned under another shape"
                       : role == Role::param   ? "an output never shares the bytes of an input"
                       : role == Role::host    ? "made by a host call, in the host's memory"
                       : role == Role::literal ? "a constant is returned"
                                               : "returned more than once";
  Piece piece{.value = v, .steps = {kernel::Copy{home.buffer, buffer, reason}}, .after = home.pieces};
  out_.pieces.push_back(std::move(piece));
}

Pieces cut(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
           const FusedBodies& bodies, std::span<const UnreadCheck> checks, KernelProgram& program) {
  program.outputs.assign(graph.outputs.size(), BufferId());
  Pieces out = Cutter(graph, caps, cones, forced, bodies, program).run();
  for (const UnreadCheck& check : checks) out.pieces.push_back(piece_of(graph, check));
  return out;
}

}  // namespace inlay::fuse
