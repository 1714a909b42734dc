#include "memory/overwrite.h"

#include <algorithm>

#include "kernel/steps.h"

namespace inlay::memory {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Start;
using kernel::Statement;

OverwriteQuestions::OverwriteQuestions(const KernelProgram& program, const Kernel& kernel)
    : program_(program), kernel_(kernel) {
  for (int stage = 0; stage < static_cast<int>(kernel.stages.size()); ++stage) {
    const std::vector<Statement>& statements = kernel.stages[stage].statements;
    for (int i = 0; i < static_cast<int>(statements.size()); ++i) {
      const Statement& s = statements[i];
      if (!s.has_place() || (!s.is_write() && s.kind != Statement::Kind::load)) continue;
      Accesses& accesses = accesses_[kernel::root_of(program, s.buffer)];
      (s.is_write() ? accesses.writes : accesses.loads).push_back({stage, i, &s});
    }
  }
  for (const KernelOutput& output : kernel.outputs) {
    if (output.start.kind == Start::Kind::keep) continue;
    const BufferId root = kernel::root_of(program, output.buffer);
    if (Accesses& accesses = accesses_[root]; !accesses.start) accesses.start = &output.start;
    if (output.start.kind != Start::Kind::copy) continue;
    accesses_[kernel::root_of(program, output.start.source)].copied_into.push_back(root);
  }
}

const OverwriteQuestions::Accesses& OverwriteQuestions::accesses_of(BufferId root) const {
  static const Accesses kNone;
  const auto found = accesses_.find(root);
  return found == accesses_.end() ? kNone : found->second;
}

std::string OverwriteQuestions::why_not(BufferId operand, BufferId output) const {
  if (output == kernel_.workspace) return "is read while its bytes would be written";
  const Accesses &from = accesses_of(operand), &to = accesses_of(output);
  if (!from.writes.empty() && !is_made_first(from, to)) return "is written by the same kernel";
  // Another output that begins as a copy of the operand reads it before the first stage, but perhaps after other
  // starts.
  const bool copied_elsewhere = std::ranges::any_of(from.copied_into, [&](BufferId root) { return root != output; });
  const bool is_touched = !from.loads.empty() || !from.writes.empty() || copied_elsewhere;
  if (is_touched && is_started(to, operand)) return "is read after its bytes would be filled";
  for (const Touch& write : to.writes) {
    for (const std::vector<Touch>* touches : {&from.loads, &from.writes}) {  // writes must have ended by then too
      for (const Touch& touch : *touches) {
        if (may_read_overwritten(touch, write)) return "is read where it would be overwritten";
      }
    }
  }
  return "";
}

std::string OverwriteQuestions::why_not_in_part(const kernel::Transfer& transfer) const {
  const Touch write{transfer.stage, transfer.store, &kernel_.stages[transfer.stage].statements[transfer.store]};
  const bool is_late = std::ranges::any_of(accesses_of(transfer.source).loads,
                                           [&](const Touch& load) { return may_follow(load, write, transfer.offset); });
  return is_late ? "is read where it would be overwritten" : "";
}

bool OverwriteQuestions::may_fill_part(BufferId output, const Uses& uses) const {
  const Accesses& here = accesses_of(output);
  return here.writes.size() > 1 || here.start || uses.writes.size() > 1;
}

std::vector<kernel::Transfer> OverwriteQuestions::transfers(kernel::StepId step, BufferId operand,
                                                            BufferId output) const {
  std::vector<kernel::Transfer> out;
  for (const Touch& load : accesses_of(operand).loads) {
    for (const Touch& write : accesses_of(output).writes) {
      if (load.stage != write.stage) continue;
      auto transfer = kernel::transfer_of(program_, step, load.stage, load.statement, write.statement);
      if (transfer) out.push_back(*std::move(transfer));
    }
  }
  return out;
}

/// Does the kernel put something else into the output before its first stage?
bool OverwriteQuestions::is_started(const Accesses& output, BufferId operand) const {
  return output.start &&
         (output.start->kind == Start::Kind::fill || kernel::root_of(program_, output.start->source) != operand);
}

/// Does the kernel make all of the operand itself, for its own later stages, before it touches the output?
bool OverwriteQuestions::is_made_first(const Accesses& operand, const Accesses& output) const {
  const Touch& made = operand.writes.front();
  if (!kernel_.outer.empty() && !kernel_.stages[made.stage].once) return false;
  const auto precedes = [&](const std::vector<Touch>& touches) {
    return touches.empty() || made.is_before(touches.front());
  };
  return precedes(operand.loads) && precedes(output.loads) && precedes(output.writes) && !made.at->accumulates();
}

/// Could `load` read an element that `write` has overwritten? The order of the two is compared first, since showing
/// that they are disjoint needs a proof.
bool OverwriteQuestions::may_read_overwritten(const Touch& load, const Touch& write) const {
  return may_follow(load, write) && !are_disjoint(load, write);
}

/// Is there a point of `write` after which `load` reads what it wrote, if both touched one element? What is loaded lies
/// at `offset` elements of what is written.
bool OverwriteQuestions::may_follow(const Touch& load, const Touch& write, const Dim& offset) const {
  if (load.stage < write.stage) return !kernel_.stages[load.stage].once && !finishes_first(*load.at, *write.at);
  if (load.stage > write.stage || load.statement > write.statement) return true;
  return !is_one_point(write) && !same_element(load, write, offset);
}

std::vector<Dim> OverwriteQuestions::extents(const Touch& touch) const {
  return axis_extents(kernel_, kernel_.stages[touch.stage]);
}

bool OverwriteQuestions::are_disjoint(const Touch& a, const Touch& b) const {
  const std::vector<Dim> extents_a = extents(a), extents_b = extents(b);
  return kernel::always_disjoint({a.at->map, extents_a, dims(a)}, {b.at->map, extents_b, dims(b)});
}

/// Is there only one point? Then the order of the statements decides.
bool OverwriteQuestions::is_one_point(const Touch& touch) const { return all_one(extents(touch)); }

/// In one stage: is the element that a point writes read by that point only?
bool OverwriteQuestions::same_element(const Touch& load, const Touch& write, const Dim& offset) const {
  if (offset.is(0) && dims(load) == dims(write)) return same_element_only(load.at->map, write.at->map, extents(write));
  // They may have the same bytes under other dims, so offsets in memory are compared.
  if (load.at->map.has_index() || write.at->map.has_index()) return false;
  const kernel::LinearMap a = linearize(load.at->map, dims(load)), b = linearize(write.at->map, dims(write));
  const std::vector<Dim> points = extents(write);
  return a.base + offset == b.base && same_strides(a, b, points) && is_injective(write.at->map, points) == Answer::yes;
}

/// The load is in an earlier stage. With outer axes that stage runs again, for other outer points, after the write: so
/// both must stay within the part of the buffer that belongs to their outer point.
bool OverwriteQuestions::finishes_first(const Statement& load, const Statement& write) const {
  for (int axis = 0; axis < static_cast<int>(kernel_.outer.size()); ++axis) {
    if (!kernel_.outer[axis].extent.is(1) && !keeps_to_its_part(load, write, axis)) return false;
  }
  return true;
}

bool OverwriteQuestions::keeps_to_its_part(const Statement& load, const Statement& write, int outer_axis) const {
  return program_.buffers[load.buffer].dims == program_.buffers[write.buffer].dims &&
         told_apart_by(load.map, write.map, outer_axis);
}

}  // namespace inlay::memory
