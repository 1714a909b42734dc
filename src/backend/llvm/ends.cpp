#include "backend/llvm/ends.h"

#include "backend/llvm/control_flow.h"
#include "inlay/runtime.h"

namespace inlay::llvm_backend {

Ends::Ends(llvm::Module& module, llvm::IRBuilder<>& builder, Frame& frame)
    : module_(module), b_(builder), frame_(frame) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  failed_ = new_block(b_, "failed");
  b_.SetInsertPoint(failed_);
  b_.CreateRet(b_.getInt32(INLAY_FAILED_AT_SITE));
}

void Ends::fail_if(Value* condition, SiteId site, llvm::ArrayRef<Value*> numbers) {
  if (never_holds(condition)) return;
  llvm::BasicBlock* cold = new_block(b_, "fail");
  llvm::BasicBlock* go_on = new_block(b_, "ok");
  b_.CreateCondBr(condition, cold, go_on, unlikely(b_));
  b_.SetInsertPoint(cold);
  fail(site, numbers);
  b_.SetInsertPoint(go_on);
}

void Ends::fail(SiteId site, llvm::ArrayRef<Value*> numbers) {
  b_.CreateStore(b_.getInt64(site.valid() ? static_cast<int64_t>(site.index) : -1),
                 frame_.call_field_address(offsetof(InlayCall, failure_site)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    b_.CreateStore(numbers[i], frame_.call_field_address(offsetof(InlayCall, failure_numbers) + i * sizeof(int64_t)));
  }
  b_.CreateBr(failed_);
}

void Ends::return_unless_ok(Value* code) {
  llvm::BasicBlock* leave = new_block(b_, "leave");
  llvm::BasicBlock* go_on = new_block(b_, "ok");
  b_.CreateCondBr(b_.CreateICmpNE(code, b_.getInt32(INLAY_OK)), leave, go_on, unlikely(b_));
  b_.SetInsertPoint(leave);
  b_.CreateRet(code);
  b_.SetInsertPoint(go_on);
}

void Ends::checkpoint() {
  Value* flag = b_.CreateLoad(b_.getInt32Ty(), stop_flag(), /*isVolatile=*/true);
  llvm::BasicBlock* cold = new_block(b_, "asked_to_stop");
  llvm::BasicBlock* go_on = new_block(b_, "go_on");
  b_.CreateCondBr(b_.CreateICmpNE(flag, b_.getInt32(0)), cold, go_on, unlikely(b_));
  b_.SetInsertPoint(cold);
  const auto type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy()}, false);
  Value* ask = frame_.call_field(offsetof(InlayCall, interrupted), b_.getPtrTy());
  Value* code = b_.CreateCall(type, ask, {frame_.call_argument()});
  end_if(b_.CreateICmpNE(code, b_.getInt32(INLAY_OK)), code);
  b_.CreateBr(go_on);
  b_.SetInsertPoint(go_on);
}

Value* Ends::stop_flag() {
  Value*& flag = stop_flags_[writing_ ? 1 : 0];
  if (flag) return flag;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  frame_.go_to_entry();
  Value* given =
      frame_.call_field(writing_ ? offsetof(InlayCall, stop_while_writing) : offsetof(InlayCall, stop), b_.getPtrTy());
  auto* never = new llvm::GlobalVariable(module_, b_.getInt32Ty(), /*isConstant=*/true,
                                         llvm::GlobalValue::InternalLinkage, b_.getInt32(0), "never_stop");
  flag = b_.CreateSelect(b_.CreateIsNull(given), never, given);
  return flag;
}

void Ends::end_if_interrupted(Value* status) {
  Value* interrupted = b_.getInt32(INLAY_INTERRUPTED);
  end_if(b_.CreateICmpEQ(status, interrupted), interrupted);
}

/// Ends the call with `code` where `ends` is true.
void Ends::end_if(Value* ends, Value* code) {
  if (!interrupted_) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(new_block(b_, "interrupted"));
    interrupted_ = b_.CreatePHI(b_.getInt32Ty(), 2);
    b_.CreateRet(interrupted_);
  }
  interrupted_->addIncoming(code, b_.GetInsertBlock());
  llvm::BasicBlock* go_on = new_block(b_, "go_on");
  b_.CreateCondBr(ends, interrupted_->getParent(), go_on, unlikely(b_));
  b_.SetInsertPoint(go_on);
}

}  // namespace inlay::llvm_backend
