#include "backend/llvm/emit_blocks.h"
#include "backend/llvm/emit_stage.h"
#include "backend/llvm/parts.h"
#include "backend/llvm/steps.h"
#include "kernel/stopping.h"
#include "kernel/tiles.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

using kernel::Start;

/// What an output holds before the first stage.
void emit_start(FunctionEmitter& f, const kernel::KernelOutput& output) {
  switch (output.start.kind) {
    case Start::Kind::keep: return;
    case Start::Kind::fill: return emit_fill(f, output.buffer, output.start.value);
    case Start::Kind::copy:
      if (output.start.elided) return;
      return emit_transfer(f, output.start.source, output.buffer);
  }
}

class KernelEmitter {
 public:
  KernelEmitter(FunctionEmitter& f, const kernel::Kernel& kernel)
      : f_(f), kernel_(kernel), points_(kernel.outer.size(), f.i64(0)) {}

  void emit() {
    emit_starts(/*local=*/false);
    emit_stages(std::span(kernel_.stages).first(kernel_.num_once()), /*in_loops=*/false);
    if (!has_loops()) return emit_outer_point(/*in_loops=*/false);
    const std::optional<Cut> cut = cut_of(f_.program, kernel_, f_.options.blocks);
    if (!cut) return emit_loops();
    BlocksEmitter blocks(f_, kernel_, *cut);
    blocks.open_states();
    blocks.keep_locals();
    KernelEmitter in_block(blocks.function(), kernel_);
    in_block.cut_axis_ = cut->level;
    in_block.block_ = blocks.block();
    in_block.emit_loops();
    blocks.close();
  }

 private:
  bool has_loops() const {
    return kernel_.is_tiled() ||
           std::ranges::any_of(kernel_.outer, [](const kernel::Axis& axis) { return !axis.extent.is(1); });
  }

  void emit_loops() {
    Value* any_point = f_.b.getTrue();
    for (const kernel::Axis& axis : kernel_.outer) {
      any_point = f_.b.CreateAnd(f_.b.CreateICmpSGT(f_.sizes.of(axis.extent), f_.i64(0)), any_point);
    }
    // A scalar that changes in these loops lives on the stack meanwhile.
    for (const kernel::KernelOutput& output : kernel_.outputs) {
      if (f_.places.is_scalar(output.buffer)) f_.places.spill_scalar(output.buffer);
    }
    const Branch branch = open_if(f_.b, any_point);
    emit_outer(0);
    close_if(f_.b, branch, {}, {});
    for (const kernel::KernelOutput& output : kernel_.outputs) {
      if (f_.places.is_scalar(output.buffer)) f_.places.reload_scalar(output.buffer);
    }
  }

  void emit_outer(std::size_t axis) {
    if (axis == kernel_.outer.size()) {
      if (kernel::looks_at_outer_points(kernel_)) f_.ends.checkpoint();
      return emit_outer_point(/*in_loops=*/true);
    }
    if (kernel_.outer[axis].extent.is(1) && !is_tiled(axis)) return emit_outer(axis + 1);
    const bool is_cut = static_cast<int>(axis) == cut_axis_;
    const Loop loop = open_loop(f_.b, is_cut ? block_.begin : f_.i64(0), {});
    points_[axis] = loop.point;
    Value* const step = is_tiled(axis) ? f_.sizes.of(kernel::rows_at_once(kernel_)) : f_.i64(1);
    Value* const end = is_cut ? block_.end : f_.sizes.of(kernel_.outer[axis].extent);
    if (is_tiled(axis)) {
      Value* const next = f_.b.CreateNSWAdd(loop.point, step);
      tile_ = {loop.point, f_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, next, end)};
    }
    emit_outer(axis + 1);
    close_loop(f_.b, loop, step, end, {});
  }

  bool is_tiled(std::size_t axis) const { return kernel_.is_tiled() && static_cast<int>(axis) == kernel_.tiled_axis(); }

  void emit_starts(bool local) {
    for (const kernel::KernelOutput& output : kernel_.outputs) {
      if (output.is_local == local) emit_start(f_, output);
    }
  }

  void emit_outer_point(bool in_loops) {
    emit_starts(/*local=*/true);
    emit_stages(std::span(kernel_.stages).subspan(kernel_.num_once()), in_loops);
  }

  void emit_stages(std::span<const kernel::Stage> stages, bool in_loops) {
    std::optional<Part> part;
    const auto close = [&] {
      if (part) part->close([](BufferId) { return true; });
      part.reset();
    };
    for (const kernel::Stage& stage : stages) {
      if (part && part->function().is_large()) close();
      StagePlan plan = plan_stage(f_.program, kernel_, stage, f_.engine.facts().vector_bytes);
      if (!in_loops && emit_by_blocks(part ? part->function() : f_, stage, plan)) continue;
      if (!part && !in_loops && f_.is_large()) {
        part.emplace(f_);
        part->take(kernel::access_of(f_.program, kernel_));
      }
      StageEmitter(part ? part->function() : f_, kernel_, stage, std::move(plan), {points_, tile_}).emit();
    }
    close();
  }

  /// A stage that is long, or may be. False: it is short.
  bool emit_by_blocks(FunctionEmitter& f, const kernel::Stage& stage, const StagePlan& plan) {
    const std::optional<Cut> cut = cut_of(f.program, kernel_, stage, plan, f.options.blocks);
    if (!cut) return false;
    BlocksEmitter blocks(f, kernel_, *cut);
    blocks.emit_stage(stage, plan, points_);
    blocks.close();
    return true;
  }

  FunctionEmitter& f_;
  const kernel::Kernel& kernel_;
  std::vector<Value*> points_;
  Range tile_;
  int cut_axis_ = -1;  // the outer loop that passes `block_` alone
  Range block_;
};

}  // namespace

void emit_kernel(FunctionEmitter& f, const kernel::Kernel& kernel) { KernelEmitter(f, kernel).emit(); }

}  // namespace inlay::llvm_backend
