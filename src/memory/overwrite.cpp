#include "memory/overwrite.h"

#include <algorithm>
#include <vector>

#include "kernel/dim_proof.h"
#include "kernel/steps.h"

namespace inlay::memory {

using kernel::BufferId;
using kernel::Kernel;
using kernel::KernelOutput;
using kernel::KernelProgram;
using kernel::Start;
using kernel::Statement;

namespace {

/// Where a buffer is touched.
struct Touch {
  int stage = 0, statement = 0;
  const Statement* at = nullptr;
};

class OverwriteQuestion {
 public:
  OverwriteQuestion(const KernelProgram& program, const Kernel& kernel) : program_(program), kernel_(kernel) {}

  std::vector<Touch> touches(BufferId root, bool writes) const {
    std::vector<Touch> out;
    for (int stage = 0; stage < static_cast<int>(kernel_.stages.size()); ++stage) {
      const std::vector<Statement>& statements = kernel_.stages[stage].statements;
      for (int i = 0; i < static_cast<int>(statements.size()); ++i) {
        const Statement& s = statements[i];
        const bool matches = writes ? s.is_write() : s.kind == Statement::Kind::load;
        if (matches && kernel::root_of(program_, s.buffer) == root) out.push_back({stage, i, &s});
      }
    }
    return out;
  }

  /// Could `load` read an element that `write` has overwritten?
  bool may_read_overwritten(const Touch& load, const Touch& write) const {
    if (are_disjoint(load, write)) return false;
    if (load.stage < write.stage) return !finishes_first(*load.at, *write.at);
    if (load.stage > write.stage) return true;
    if (load.statement > write.statement) return true;
    return !is_one_point(write) && !same_element(load, write);
  }

 private:
  std::vector<Dim> extents(const Touch& touch) const { return axis_extents(kernel_, kernel_.stages[touch.stage]); }
  const std::vector<Dim>& dims(const Touch& touch) const { return program_.buffers[touch.at->buffer].dims; }

  bool are_disjoint(const Touch& a, const Touch& b) const {
    if (dims(a) == dims(b)) {
      return regions_overlap(a.at->map, extents(a), b.at->map, extents(b)) == Answer::no;
    }
    const auto region_a = bounding_region(a.at->map, extents(a), dims(a));
    const auto region_b = bounding_region(b.at->map, extents(b), dims(b));
    if (!region_a || !region_b) return false;
    return kernel::always_apart(region_a->first, region_a->last, region_b->first, region_b->last);
  }

  /// Where no other point is, the statements' order says all.
  bool is_one_point(const Touch& touch) const { return all_one(extents(touch)); }

  /// In one stage: is the element that a point writes read by that point only?
  bool same_element(const Touch& load, const Touch& write) const {
    if (dims(load) == dims(write)) return same_element_only(load.at->map, write.at->map, extents(write));
    // The same bytes under other dims: compare places in memory.
    if (load.at->map.has_index() || write.at->map.has_index()) return false;
    const kernel::LinearMap a = linearize(load.at->map, dims(load)), b = linearize(write.at->map, dims(write));
    const std::vector<Dim> points = extents(write);
    return a.base == b.base && same_strides(a, b, points) && is_injective(write.at->map, points) == Answer::yes;
  }

  /// The load stands in an earlier stage. With outer axes that stage runs again, for other outer points, after the
  /// write: so both must keep to the part of the buffer that belongs to their outer point.
  bool finishes_first(const Statement& load, const Statement& write) const {
    for (int axis = 0; axis < static_cast<int>(kernel_.outer.size()); ++axis) {
      if (!kernel_.outer[axis].extent.is(1) && !keeps_to_its_part(load, write, axis)) return false;
    }
    return true;
  }

  bool keeps_to_its_part(const Statement& load, const Statement& write, int outer_axis) const {
    return program_.buffers[load.buffer].dims == program_.buffers[write.buffer].dims &&
           told_apart_by(load.map, write.map, outer_axis);
  }

  const KernelProgram& program_;
  const Kernel& kernel_;
};

/// Does the kernel put something else into the output before its first stage?
bool is_started(const KernelProgram& program, const Kernel& kernel, BufferId operand, BufferId output) {
  const Start* start = start_of(program, kernel, output);
  return start && (start->kind == Start::Kind::fill || kernel::root_of(program, start->source) != operand);
}

/// Does the kernel make all of the operand itself, for its own later stages, before it touches the output?
bool is_made_first(const KernelProgram& program, const Kernel& kernel, BufferId operand, BufferId output) {
  if (!kernel.outer.empty()) return false;
  for (const kernel::Stage& stage : kernel.stages) {
    for (const Statement& s : stage.statements) {
      if (!s.has_place()) continue;
      if (kernel::root_of(program, s.buffer) == output) return false;
      if (kernel::root_of(program, s.buffer) == operand) return s.is_write() && !s.accumulates();
    }
  }
  return false;
}

}  // namespace

std::string why_not_overwrite(const KernelProgram& program, const Kernel& kernel, BufferId operand, BufferId output) {
  const OverwriteQuestion question(program, kernel);
  std::vector<Touch> loads = question.touches(operand, /*writes=*/false);
  const std::vector<Touch> writes = question.touches(operand, /*writes=*/true);
  if (!writes.empty() && !is_made_first(program, kernel, operand, output)) return "is written by the same kernel";
  loads.insert(loads.end(), writes.begin(), writes.end());  // these too must be over when the bytes are the output's
  // Another output that begins as a copy of the operand reads it before the first stage, but maybe after other starts.
  const bool copied_elsewhere = std::ranges::any_of(kernel.outputs, [&](const KernelOutput& o) {
    return o.start.kind == Start::Kind::copy && kernel::root_of(program, o.start.source) == operand &&
           kernel::root_of(program, o.buffer) != output;
  });
  if ((!loads.empty() || copied_elsewhere) && is_started(program, kernel, operand, output)) {
    return "is read after its bytes would be filled";
  }
  for (const Touch& write : question.touches(output, /*writes=*/true)) {
    for (const Touch& load : loads) {
      if (question.may_read_overwritten(load, write)) return "is read where it would be overwritten";
    }
  }
  return "";
}

}  // namespace inlay::memory
