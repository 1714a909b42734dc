#include "transform/drop_dead_buffers.h"

#include <algorithm>

#include "kernel/visit.h"

namespace inlay::transform {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Statement;

namespace {

bool sets_known_element(const Statement& s) { return s.sets() && !s.map.has_index(); }

/// Is the buffer named by nothing but such stores and the list of outputs?
IdMap<BufferId, bool> find_unread(const KernelProgram& program) {
  const IdMap<BufferId, int> names = count_names(program);
  IdMap<BufferId, int> stores(program.buffers.size(), 0);
  for (const kernel::Step& step : program.steps) {
    const auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) continue;
    for (const KernelOutput& output : kernel->outputs)
      stores[output.buffer] += output.start.kind == kernel::Start::Kind::keep;
    for (const kernel::Stage& stage : kernel->stages) {
      for (const Statement& s : stage.statements) {
        if (sets_known_element(s)) ++stores[s.buffer];
      }
    }
  }
  IdMap<BufferId, bool> unread(program.buffers.size(), false);
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    const kernel::Buffer& buffer = program.buffers[b];
    unread[b] = buffer.role == kernel::Role::temporary && !buffer.view_of.valid() && names[b] == stores[b];
  }
  return unread;
}

void drop_buffers(KernelProgram& program, const IdMap<BufferId, bool>& dropped) {
  IdMap<BufferId, BufferId> now(program.buffers.size());
  IdMap<BufferId, kernel::Buffer> kept;
  for (BufferId b : ids<BufferId>(program.buffers.size())) {
    if (!dropped[b]) now[b] = kept.push_back(std::move(program.buffers[b]));
  }
  for (kernel::Buffer& buffer : kept) {
    if (buffer.view_of.valid()) buffer.view_of = now[buffer.view_of];
  }
  for (kernel::Step& step : program.steps) for_each_buffer(step, [&](BufferId& b) { b = now[b]; });
  for (BufferId& b : program.params) b = now[b];
  for (BufferId& b : program.outputs) b = now[b];
  program.buffers = std::move(kept);
}

}  // namespace

KernelProgram drop_dead_buffers(KernelProgram program, LoopPassContext& context) {
  const IdMap<BufferId, bool> unread = find_unread(program);
  if (std::ranges::find(unread, true) == unread.end() || !context.fires()) return program;
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel) continue;
    std::erase_if(kernel->outputs, [&](const KernelOutput& output) { return unread[output.buffer]; });
    for (kernel::Stage& stage : kernel->stages) {
      std::erase_if(stage.statements, [&](const Statement& s) { return sets_known_element(s) && unread[s.buffer]; });
    }
  }
  drop_buffers(program, unread);
  return program;
}

}  // namespace inlay::transform
