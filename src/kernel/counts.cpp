#include "kernel/counts.h"

#include <algorithm>

#include "kernel/flops.h"

namespace inlay::kernel {
namespace {

/// Returns how many elements the map touches over a stage: the points of the axes that it uses, or of all axes if it
/// has an index.
Dim elements_touched(const AccessMap& map, std::span<const Dim> extents) {
  Dim out = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (map.has_index() || map.uses_axis(static_cast<int>(axis))) out = out * extents[axis];
  }
  return out;
}

constexpr int64_t kVectorBytes = 64;

/// Returns the axis of the stage's innermost loop; -1 without a loop.
int vector_axis(const Kernel& kernel, const Stage& stage) {
  if (kernel.is_tiled() && !stage.once && stage.tile_at == stage.axes.size()) return kernel.tiled_axis();
  for (std::size_t i = stage.axes.size(); i-- > 0;) {
    if (!stage.axes[i].extent.is(1)) return static_cast<int>(kernel.outer.size() + i);
  }
  return -1;
}

/// 0: the stage is no loop.
int width_of(const Kernel& kernel, const Stage& stage) {
  const int axis = vector_axis(kernel, stage);
  if (axis < 0) return 0;
  std::vector<bool> varies(static_cast<std::size_t>(stage.num_registers), false);
  int64_t widest = 1;
  for (const Statement& s : stage.statements) {
    const auto is_varying = [&](RegisterId r) { return varies[r.index]; };
    bool here = s.is_write() || std::ranges::any_of(s.operands, is_varying);
    if (s.kind == Statement::Kind::axis) here = s.axis == axis;
    if (s.kind == Statement::Kind::load) here = s.map.uses_axis(axis);
    for (const Subscript& subscript : s.map.subscripts)
      here = here || (subscript.index && is_varying(subscript.index->index));
    if (s.result.valid()) varies[s.result.index] = here;
    if (here) widest = std::max(widest, size_bytes(real_of(s.dtype)));
  }
  const std::vector<Dim> extents = axis_extents(kernel, stage);
  const Dim& extent = extents[static_cast<std::size_t>(axis)];
  const int64_t lanes = kVectorBytes / widest;
  return static_cast<int>(extent.is_constant() ? std::min(lanes, extent.constant()) : lanes);
}

bool has_bytes(const Buffer& buffer) { return buffer.role != Role::scalar && buffer.role != Role::literal; }

class Counter {
 public:
  explicit Counter(const KernelProgram& program) : program_(program) {}

  void operator()(const Kernel& kernel) {
    if (kernel.is_scalar()) return;
    ++counts.kernels;
    for (const KernelOutput& output : kernel.outputs) add(output);
    for (const Stage& stage : kernel.stages) add(kernel, stage);
    counts.flops = counts.flops + flops(kernel);
  }
  void operator()(const LibraryCall&) { ++counts.library_calls; }
  void operator()(const HostCall&) { ++counts.host_calls; }
  void operator()(const BindSize&) {}
  void operator()(const Copy&) { ++counts.copies; }
  void operator()(const SizeCheck&) { ++counts.size_checks; }
  void operator()(const LoopBegin&) { ++counts.loops; }
  void operator()(const LoopEnd&) {}
  void operator()(const CondBegin&) { ++counts.conds; }
  void operator()(const CondElse&) {}
  void operator()(const CondEnd&) {}

  KernelCounts counts;

 private:
  void add(const KernelOutput& output) {
    const Buffer& buffer = program_.buffers[output.buffer];
    if (output.is_local) return;
    if (output.start.kind == Start::Kind::fill && has_bytes(buffer)) {
      counts.writes = counts.writes + num_elements(buffer);
      counts.written_bytes = counts.written_bytes + size_bytes(buffer);
    }
  }

  void add(const Kernel& kernel, const Stage& stage) {
    ++counts.stages;
    const int width = width_of(kernel, stage);
    if (width > 0) counts.width = counts.width == 0 ? width : std::min(counts.width, width);
    const std::vector<Dim> extents = axis_extents(kernel, stage);
    std::vector<const Statement*> seen;
    for (const Statement& statement : stage.statements) {
      switch (statement.kind) {
        case Statement::Kind::load:
          ++counts.loads;
          counts.gathers += statement.map.has_index();
          if (!kernel.is_local(statement.buffer))
            add_elements(statement, extents, seen, counts.reads, counts.read_bytes);
          break;
        case Statement::Kind::store:
        case Statement::Kind::fold:
          ++(statement.kind == Statement::Kind::fold ? counts.folds : counts.stores);
          counts.scatters += statement.map.has_index();
          if (!kernel.is_local(statement.buffer))
            add_elements(statement, extents, seen, counts.writes, counts.written_bytes);
          break;
        case Statement::Kind::op:
        case Statement::Kind::cast: ++counts.ops; break;
        case Statement::Kind::literal:
        case Statement::Kind::axis:
        case Statement::Kind::size:
        case Statement::Kind::check: break;
      }
    }
  }

  /// Elements are counted once: the second time they come from a register or a cached line.
  void add_elements(const Statement& statement, std::span<const Dim> extents, std::vector<const Statement*>& seen,
                    Dim& total, Dim& total_bytes) {
    if (!has_bytes(program_.buffers[statement.buffer])) return;
    const auto same = [&](const Statement* other) {
      return (other->kind == Statement::Kind::load) == (statement.kind == Statement::Kind::load) &&
             other->buffer == statement.buffer && other->map == statement.map;
    };
    if (std::ranges::any_of(seen, same)) return;
    seen.push_back(&statement);
    const Dim touched = elements_touched(statement.map, extents);
    total = total + touched;
    total_bytes = total_bytes + touched * size_bytes(program_.buffers[statement.buffer].dtype);
  }

  const KernelProgram& program_;
};

}  // namespace

int body_length(const Stage& stage) {
  return static_cast<int>(std::ranges::count_if(stage.statements, [](const Statement& s) {
    return s.is_write() || s.kind == Statement::Kind::op || s.kind == Statement::Kind::cast;
  }));
}

KernelCounts count(const KernelProgram& program) {
  Counter counter(program);
  for (const Step& step : program.steps) std::visit(counter, step);
  return counter.counts;
}

KernelCounts count(const KernelProgram& program, const Kernel& kernel) {
  Counter counter(program);
  counter(kernel);
  return counter.counts;
}

}  // namespace inlay::kernel
