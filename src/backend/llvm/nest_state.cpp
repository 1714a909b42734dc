#include "backend/llvm/nest_state.h"

#include <algorithm>

#include "support/error.h"

namespace inlay::llvm_backend {

NestState::NestState(FunctionEmitter& function, const kernel::Kernel& in, const kernel::Stage& of, StagePlan as_planned,
                     const StagePart& of_part)
    : f(function), b(function.b), kernel(in), stage(of), plan(std::move(as_planned)), part(of_part) {
  points_.assign(part.outer_points.begin(), part.outer_points.end());
  points_.resize(part.outer_points.size() + stage.axes.size(), f.i64(0));
  uniform.registers.resize(plan.register_levels.size());
  splats_.resize(plan.register_levels.size());
}

Range NestState::range_of(int level) {
  if (level == part.cut_level) return part.block;
  const kernel::NestLoop& loop = plan.loop(level);
  if (loop.is_tile) return part.tile;
  return {f.i64(0), f.sizes.of(loop.extent)};
}

Lanes NestState::lanes_at(Value* point) const {
  Lanes out;
  out.width = plan.width;
  out.point = point;
  out.registers.resize(plan.register_levels.size());
  return out;
}

Lanes NestState::lanes_before(Value* end, Value* point) const {
  Lanes out = lanes_at(point);
  out.num_active = b.CreateSub(end, point);
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < plan.width; ++lane) numbers.push_back(f.i64(lane));
  out.active = b.CreateICmpSLT(llvm::ConstantVector::get(numbers), splat(f, out.num_active, plan.width));
  return out;
}

Value* NestState::operand(kernel::RegisterId r, Lanes& lanes) {
  if (Value* here = lanes.registers[r.index]) return here;
  Value* computed = uniform.registers[r.index];
  INLAY_CHECK(computed, "register %", r.index, " is used before it is computed");
  if (lanes.width == 1) return computed;
  Value*& known = splats_[r.index];
  if (!known) known = hoisted([&] { return splat(f, computed, lanes.width); });
  return known;
}

Value* NestState::hoisted(llvm::function_ref<Value*()> emit) {
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  if (hoist) b.SetInsertPoint(hoist);
  return emit();
}

void NestState::enter_vectors(const char* name) {
  llvm::BasicBlock* first = new_block(b, name);
  hoist = b.CreateBr(first);
  b.SetInsertPoint(first);
}

void NestState::leave_vectors(Lanes outside) {
  uniform = std::move(outside);
  std::ranges::fill(splats_, nullptr);
}

}  // namespace inlay::llvm_backend
