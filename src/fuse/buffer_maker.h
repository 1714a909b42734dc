#pragma once
// The buffers of a program, under names of their own.
#include <string>
#include <unordered_map>
#include <vector>

#include "fuse/decide.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

using kernel::BufferId;

class BufferMaker {
 public:
  BufferMaker(const Graph& graph, const Decisions& decisions, kernel::KernelProgram& program);

  BufferId new_param(int slot);
  BufferId new_literal(ValueId v);

  /// Where those who read the value find it, as was decided.
  BufferId new_place(ValueId v);
  BufferId new_temporary(ValueId v);
  BufferId new_view(ValueId v, BufferId of);
  BufferId new_output(ValueId v, int slot);

  /// Holds no value of the graph: what a running fold has got so far.
  BufferId new_state(ValueId of, DType dtype, std::vector<Dim> dims);
  BufferId new_workspace(std::string_view op, const Dim& bytes);

  /// A reason of the bytes that the buffer has or shows, if they are the program's own.
  void because(BufferId buffer, kernel::Stored reason);

 private:
  std::string unique_name(std::string name);
  BufferId new_buffer(ValueId v, kernel::Role role, int slot = -1);
  BufferId new_memory(ValueId v);

  const Graph& graph_;
  const Decisions& decisions_;
  kernel::KernelProgram& program_;
  std::unordered_map<std::string, int> names_;  // that are taken, with the quotes that the last one to want it got
};

}  // namespace inlay::fuse
