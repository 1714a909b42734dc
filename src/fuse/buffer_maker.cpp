#include "fuse/buffer_maker.h"

#include <algorithm>
#include <utility>

namespace inlay::fuse {

using kernel::Buffer;
using kernel::Role;
using kernel::StoredFor;

BufferMaker::BufferMaker(const Graph& graph, const Decisions& decisions, kernel::KernelProgram& program)
    : graph_(graph), decisions_(decisions), program_(program) {
  program.buffers.reserve(graph.values.size());
  names_.reserve(graph.values.size());
}

BufferId BufferMaker::new_param(int slot) {
  const Param& param = graph_.params[slot];
  const BufferId buffer = new_buffer(param.value, Role::param, slot);
  program_.buffers[buffer].dims = given_dims(graph_, param);
  program_.buffers[buffer].bound = param.bound;
  program_.buffers[buffer].donated = param.donated;
  program_.buffers[buffer].facts = param.facts;
  program_.params.push_back(buffer);
  return buffer;
}

BufferId BufferMaker::new_literal(ValueId v) {
  const BufferId buffer = new_buffer(v, Role::literal);
  program_.buffers[buffer].elements = graph_.node_of(v)->elements;
  return buffer;
}

BufferId BufferMaker::new_place(ValueId v) {
  const How how = decisions_[v].how;
  return how == How::number   ? new_buffer(v, Role::scalar)
         : how == How::hosted ? new_buffer(v, Role::host)
                              : new_memory(v);
}

BufferId BufferMaker::new_temporary(ValueId v) {
  const BufferId buffer = new_buffer(v, Role::temporary);
  program_.buffers[buffer].stored = decisions_[v].why;
  return buffer;
}

BufferId BufferMaker::new_view(ValueId v, BufferId of) {
  const BufferId buffer = new_buffer(v, program_.buffers[of].role, program_.buffers[of].slot);
  program_.buffers[buffer].view_of = kernel::root_of(program_, of);
  because(of, decisions_[v].why);
  because(of, {StoredFor::reshape, program_.buffers[buffer].name});
  return buffer;
}

BufferId BufferMaker::new_output(ValueId v, int slot) {
  const BufferId buffer = new_buffer(v, Role::output, slot);
  const std::string& name = graph_.outputs[slot].name;
  if (!name.empty() && names_.emplace(name, 0).second) program_.buffers[buffer].name = name;
  program_.outputs[slot] = buffer;
  return buffer;
}

BufferId BufferMaker::new_state(ValueId of, DType dtype, std::vector<Dim> dims) {
  const bool one = all_one(dims);
  Buffer state{.name = unique_name(str(graph_.name_text(of), "_so_far")), .dtype = dtype, .dims = std::move(dims)};
  if (one) {
    state.role = Role::scalar;
  } else {
    state.stored.why = StoredFor::running_state;
  }
  return program_.buffers.push_back(std::move(state));
}

BufferId BufferMaker::new_workspace(std::string_view op, const Dim& bytes) {
  Buffer workspace{.name = unique_name(str("workspace of ", op)), .dtype = DType::u8, .dims = {bytes}};
  workspace.stored = {StoredFor::workspace, std::string(op)};
  return program_.buffers.push_back(std::move(workspace));
}

void BufferMaker::because(BufferId buffer, kernel::Stored reason) {
  Buffer& root = program_.buffers[kernel::root_of(program_, buffer)];
  if (root.role == Role::temporary) kernel::offer(root.stored, std::move(reason));
}

/// The name, with as many quotes as it takes.
std::string BufferMaker::unique_name(std::string name) {
  const auto [used, is_new] = names_.emplace(name, 0);
  if (is_new) return name;
  int& quotes = used->second;  // a reference stays where it is when others come
  do {
    ++quotes;
  } while (!names_.emplace(name + std::string(static_cast<std::size_t>(quotes), '\''), 0).second);
  return name + std::string(static_cast<std::size_t>(quotes), '\'');
}

BufferId BufferMaker::new_buffer(ValueId v, Role role, int slot) {
  const TensorType& type = graph_.type(v);
  Buffer buffer{
      .name = unique_name(graph_.name_text(v)), .dtype = type.dtype, .dims = type.dims, .role = role, .slot = slot};
  buffer.value = v;
  return program_.buffers.push_back(std::move(buffer));
}

/// Where the bytes of a stored value go: straight into the output if it is returned, if only under another shape.
BufferId BufferMaker::new_memory(ValueId v) {
  const int slot = decisions_[v].slot;
  if (slot < 0) return new_temporary(v);
  const ValueId returned = graph_.outputs[slot].value;
  const BufferId output = new_output(returned, slot);
  return returned == v ? output : new_view(v, output);
}

}  // namespace inlay::fuse
