// Loops and conds around steps. A 0-d value that changes in a body is a phi where control meets; all else that the
// steps of a body share (sizes, addresses) was there before the outermost region began, or since the body found a size.
#include "backend/llvm/regions.h"
#include "support/error.h"

namespace inlay::llvm_backend {

Value* RegionEmitter::condition(BufferId buffer) {
  if (f_.places.is_scalar(buffer)) return f_.places.scalar(buffer);
  return from_memory(f_.b, f_.b.CreateLoad(memory_type(f_.b, DType::boolean), f_.places.address(buffer)),
                     DType::boolean);
}

RegionEmitter::Open& RegionEmitter::open(kernel::StepId begin) {
  Open region{region_at(regions_, begin)};
  f_.frame.enter_region();
  region.before = f_.places.scalars();
  open_.push_back(std::move(region));
  return open_.back();
}

void RegionEmitter::close(std::vector<Value*> scalars) {
  f_.places.scalars() = std::move(scalars);
  forget_found(open_.back());
  open_.pop_back();
  f_.frame.leave_region();
}

void RegionEmitter::begin_finding() {
  if (open_.empty() || open_.back().outside) return;
  open_.back().outside = Outside{f_.frame.spine(), f_.sizes.known(), f_.places.addresses()};
}

void RegionEmitter::forget_found(Open& region) {
  if (!region.outside) return;
  f_.frame.move_spine_back(region.outside->spine);
  f_.sizes.forget_all_but(std::move(region.outside->sizes));
  f_.places.addresses() = std::move(region.outside->addresses);
  region.outside.reset();
}

void RegionEmitter::begin_loop(kernel::StepId step, const kernel::LoopBegin& loop) {
  llvm::IRBuilder<>& b = f_.b;
  Open& region = open(step);
  Value* count = f_.sizes.of(loop.count);
  const kernel::StepId last = region.span.end;
  region.again = std::get<kernel::LoopEnd>(f_.program.steps[last.index]).go_on.valid();
  llvm::BasicBlock* before = b.GetInsertBlock();
  region.head = new_block(b, "pass");
  region.after = new_block(b, "passed");
  b.CreateBr(region.head);
  b.SetInsertPoint(region.head);
  const auto phi = [&](Value* initial) {
    llvm::PHINode* out = b.CreatePHI(initial->getType(), 2);
    out->addIncoming(initial, before);
    return out;
  };
  region.step = phi(f_.i64(0));
  if (region.again) region.go_on = phi(b.getTrue());
  for (uint32_t i = step.index + 1; i < last.index; ++i) {
    for (BufferId written : access_of(f_.program, f_.program.steps[i]).writes) {
      Value*& value = f_.places.scalars()[written.index];
      const bool changes = (f_.places.is_scalar(written) || f_.places.is_host_handle(written)) && value &&
                           value == region.before[written.index];
      if (!changes) continue;
      region.carried.emplace_back(written, phi(value));
      value = region.carried.back().second;
    }
  }
  region.at_head = f_.places.scalars();
  Value* more = b.CreateICmpSLT(region.step, count);
  if (region.again) more = b.CreateAnd(region.go_on, more);
  llvm::BasicBlock* body = new_block(b, "body");
  b.CreateCondBr(more, body, region.after);
  b.SetInsertPoint(body);
  f_.ends.checkpoint();
  f_.places.set_scalar(loop.step, region.step);
}

void RegionEmitter::end_loop(const kernel::LoopEnd& loop) {
  llvm::IRBuilder<>& b = f_.b;
  Open& region = open_.back();
  if (region.again) region.go_on->addIncoming(condition(loop.go_on), b.GetInsertBlock());
  Value* next = b.CreateAdd(region.step, f_.i64(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  region.step->addIncoming(next, b.GetInsertBlock());
  for (const auto& [buffer, phi] : region.carried) phi->addIncoming(f_.places.scalar(buffer), b.GetInsertBlock());
  b.CreateBr(region.head);
  b.SetInsertPoint(region.after);
  close(std::move(region.at_head));
}

void RegionEmitter::begin_cond(kernel::StepId step, const kernel::CondBegin& cond) {
  llvm::IRBuilder<>& b = f_.b;
  Open& region = open(step);
  region.head = new_block(b, "otherwise");
  region.after = new_block(b, "either");
  llvm::BasicBlock* then = new_block(b, "then");
  b.CreateCondBr(condition(cond.condition), then, region.head);
  b.SetInsertPoint(then);
}

void RegionEmitter::begin_else() {
  Open& region = open_.back();
  forget_found(region);
  region.at_head = std::exchange(f_.places.scalars(), region.before);
  region.then_end = f_.b.GetInsertBlock();
  f_.b.CreateBr(region.after);
  f_.b.SetInsertPoint(region.head);
}

void RegionEmitter::end_cond() {
  llvm::IRBuilder<>& b = f_.b;
  Open& region = open_.back();
  llvm::BasicBlock* else_end = b.GetInsertBlock();
  b.CreateBr(region.after);
  b.SetInsertPoint(region.after);
  const std::vector<Value*>&then = region.at_head, &otherwise = f_.places.scalars();
  std::vector<Value*> merged(then.size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (then[i] == otherwise[i]) merged[i] = then[i];
    if (!then[i] || !otherwise[i] || merged[i]) continue;  // of one body alone: nobody reads it from here on
    llvm::PHINode* phi = b.CreatePHI(then[i]->getType(), 2);
    phi->addIncoming(then[i], region.then_end);
    phi->addIncoming(otherwise[i], else_end);
    merged[i] = phi;
  }
  close(std::move(merged));
}

}  // namespace inlay::llvm_backend
