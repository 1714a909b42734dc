#include "fuse/materialize.h"

#include <algorithm>
#include <utility>

#include "fuse/cutter.h"
#include "ir/library_types.h"

namespace inlay::fuse {

using kernel::Buffer;
using kernel::KernelProgram;
using kernel::Role;
using kernel::Statement;
using kernel::StoredFor;

Pieces Cutter::run() {
  for (std::size_t slot = 0; slot < graph_.params.size(); ++slot) make_param(static_cast<int>(slot));
  for (ValueId v : ids<ValueId>(graph_.values.size())) {
    materialize(v);
  }
  for (std::size_t slot = 0; slot < graph_.outputs.size(); ++slot) make_output(static_cast<int>(slot));
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

/// Where the value is for those who read it.
BufferId Cutter::new_home(ValueId v) {
  const How how = decisions_[v].how;
  return out_.homes[v].buffer = how == How::number   ? new_buffer(v, Role::scalar)
                                : how == How::hosted ? new_buffer(v, Role::host)
                                                     : new_memory(v);
}

BufferId Cutter::new_temporary(ValueId v) {
  const BufferId buffer = new_buffer(v, Role::temporary);
  program_.buffers[buffer].stored = decisions_[v].why;
  return buffer;
}

/// Where the bytes of a stored value go: straight into the output if it is returned, if only under another shape.
BufferId Cutter::new_memory(ValueId v) {
  const int slot = decisions_[v].slot;
  if (slot < 0) return new_temporary(v);
  const ValueId returned = graph_.outputs[slot].value;
  const BufferId output = new_output_buffer(returned, slot);
  return returned == v ? output : new_view(v, output);
}

BufferId Cutter::new_view(ValueId v, BufferId of) {
  const BufferId buffer = new_buffer(v, program_.buffers[of].role, program_.buffers[of].slot);
  program_.buffers[buffer].view_of = kernel::root_of(program_, of);
  because(of, decisions_[v].why);
  because(of, {StoredFor::reshape, program_.buffers[buffer].name});
  return buffer;
}

/// A reason of the bytes that the buffer has or shows, if they are the program's own.
void Cutter::because(BufferId buffer, kernel::Stored reason) {
  Buffer& root = program_.buffers[kernel::root_of(program_, buffer)];
  if (root.role == Role::temporary) kernel::offer(root.stored, std::move(reason));
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

void Cutter::materialize(ValueId v) {
  const Decision& decision = decisions_[v];
  const Node* node = graph_.node_of(v);
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
    case How::constant:
      out_.homes[v].buffer = new_buffer(v, Role::literal);
      program_.buffers[out_.homes[v].buffer].elements = node->elements;
      return;
    case How::number:
    case How::stored:
    case How::hosted: return make(v, *node);
  }
}

void Cutter::make(ValueId v, const Node& node) {
  const bool is_first = v == node.results[0];  // with which all results are made
  switch (node.op) {
    case Op::host_call: return is_first ? host_call(node) : void();
    case Op::cond: return is_first ? cond(node) : void();
    case Op::loop: return is_first ? loop(node) : void();
    case Op::library: return is_first ? library_call(node) : void();
    case Op::compress: return is_first ? compress(node) : void();
    case Op::fold: return is_first ? reduce(node) : void();
    case Op::reduce: return decisions_[v].folds > 0 ? reduce(node) : make_elements(v);
    case Op::update:
    case Op::scatter:
    case Op::concat: return regions(v);
    case Op::cumulative: return cumulative(v, node);
    case Op::as_size: return as_size(v, node);
    default: return make_elements(v);
  }
}

void Cutter::make_elements(ValueId v) {
  if (made_with(v, Op::compress)) return;  // it makes all that its mask selects
  const BufferId buffer = new_home(v);
  if (const Node* concat = made_with(v, Op::concat)) return by_parts(v, *concat);
  add(v, over(directions_.loop_over(v), v, buffer, /*defines=*/true));
}

/// What `v`, a number or stored, is made along with, if that is such an op.
const Node* Cutter::made_with(ValueId v, Op op) const {
  const ValueId with = decisions_[v].with;
  const Node* node = with.valid() ? graph_.node_of(with) : nullptr;
  return node && node->op == op ? node : nullptr;
}

void Cutter::by_parts(ValueId v, const Node& concat) {
  for (ConcatPart& part : parts_of(concat)) {
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

/// Under its own shape. What an output shows has been written in its place: loops ask for that where they can, so that
/// all of them name the bytes alike.
void Cutter::show(ValueId v, ValueId operand) {
  const Decision& decision = decisions_[v];
  const Home& source = out_.homes[operand];
  Home& home = out_.homes[v];
  const BufferId shown = decision.slot >= 0 ? program_.outputs[decision.slot] : new_view(v, source.place());
  (decision.how == How::view ? home.buffer : home.memory) = shown;
  home.pieces = source.pieces;
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
  because(home.buffer, {StoredFor::copied, reason});
  Piece piece{.value = v, .steps = {kernel::Copy{home.buffer, buffer, reason}}, .after = home.pieces};
  out_.pieces.push_back(std::move(piece));
}

Pieces cut(const Graph& graph, const Decisions& decisions, const FusedBodies& bodies,
           std::span<const UnreadCheck> checks, KernelProgram& program) {
  program.outputs.assign(graph.outputs.size(), BufferId());
  Pieces out = Cutter(graph, decisions, bodies, program).run();
  for (const UnreadCheck& check : checks) out.pieces.push_back(piece_of(graph, check));
  return out;
}

}  // namespace inlay::fuse
