#include "backend/llvm/function.h"

#include <llvm/IR/MDBuilder.h>

#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {

FunctionEmitter::FunctionEmitter(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                                 const EmitOptions& options, Engine& engine, llvm::Module& module)
    : program(program),
      plan(plan),
      options(options),
      engine(engine),
      module(module),
      b(module.getContext()),
      symbols_(program.symbols.size()),
      addresses_(program.buffers.size()),
      scalars_(program.buffers.size()),
      slots_(program.buffers.size()),
      spilled_(program.buffers.size()) {
  llvm::LLVMContext& context = module.getContext();
  const auto type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "inlay_entry", module);
  compile_for_this_cpu(*function_);
  unlikely_ = llvm::MDBuilder(context).createBranchWeights(1, 1 << 20);

  // A product may be fused with the sum that it is folded into: one rounding less than the oracles make. Not with other
  // sums (emit_operation): what two stages compute must be the same number in both, or a maximum is found in none.
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  b.setFastMathFlags(flags);

  entry_ = new_block("entry");
  failed_ = new_block("failed");
  b.SetInsertPoint(failed_);
  b.CreateRet(b.getInt32(INLAY_FAILED_AT_SITE));
  b.SetInsertPoint(entry_);
  begin_step();
}

void FunctionEmitter::compile_for_this_cpu(llvm::Function& function) const {
  function.setDSOLocal(true);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("target-cpu", engine.facts().cpu);
  function.addFnAttr("target-features", engine.facts().features);
  function.addFnAttr("min-legal-vector-width", std::to_string(engine.facts().vector_bytes * 8));
  if (engine.facts().avx512) function.addFnAttr("prefer-vector-width", "512");
}

llvm::Function* FunctionEmitter::helper_function(llvm::FunctionType* type, llvm::StringRef name) {
  llvm::Function* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  compile_for_this_cpu(*function);
  return function;
}

llvm::BasicBlock* FunctionEmitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(module.getContext(), name, function_);
}

void FunctionEmitter::begin_step() {
  llvm::BasicBlock* next = new_block("step");
  llvm::Instruction* end = b.CreateBr(next);
  if (region_depth_ == 0) spine_ = end;
  b.SetInsertPoint(next);
}

void FunctionEmitter::finish() {
  b.CreateRet(b.getInt32(INLAY_OK));
  if (scratch_) scratch_->setOperand(0, b.getInt64(scratch_bytes_));
  if (sum_stack_) sum_stack_->setOperand(0, b.getInt64(sum_stack_bytes_));
}

Value* FunctionEmitter::call_field_address(size_t offset_bytes) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), call_argument(), offset_bytes);
}

Value* FunctionEmitter::call_field(size_t offset_bytes, llvm::Type* type) {
  return b.CreateLoad(type, call_field_address(offset_bytes));
}

llvm::AllocaInst* FunctionEmitter::stack(llvm::Type* type, uint64_t count) {
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(entry_, entry_->begin());
  llvm::AllocaInst* out = b.CreateAlloca(type, b.getInt64(count));
  out->setAlignment(llvm::Align(64));
  return out;
}

Value* FunctionEmitter::sum_stack(uint64_t size_bytes) {
  if (!sum_stack_) sum_stack_ = stack(b.getInt8Ty());
  sum_stack_bytes_ = std::max(sum_stack_bytes_, size_bytes);
  return sum_stack_;
}

Value* FunctionEmitter::scratch(uint64_t size_bytes) {
  if (!scratch_) scratch_ = stack(b.getInt8Ty());
  scratch_bytes_ = std::max(scratch_bytes_, size_bytes);
  return scratch_;
}

Value* FunctionEmitter::lane_array(std::size_t i) {
  constexpr uint64_t kLaneArrayBytes = 128;
  while (lane_arrays_.size() <= i) lane_arrays_.push_back(stack(b.getInt8Ty(), kLaneArrayBytes));
  return lane_arrays_[i];
}

Loop FunctionEmitter::open_loop(Value* begin, llvm::ArrayRef<Value*> carried) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* body = new_block("loop");
  b.CreateBr(body);
  b.SetInsertPoint(body);
  Loop loop;
  loop.point = b.CreatePHI(b.getInt64Ty(), 2);
  loop.point->addIncoming(begin, before);
  for (Value* initial : carried) {
    loop.carried.push_back(b.CreatePHI(initial->getType(), 2));
    loop.carried.back()->addIncoming(initial, before);
  }
  return loop;
}

void FunctionEmitter::close_loop(const Loop& loop, Value* step, Value* end, llvm::ArrayRef<Value*> carried) {
  Value* next = b.CreateAdd(loop.point, step, "", /*HasNUW=*/true, /*HasNSW=*/true);
  Value* again = b.CreateICmpSLT(next, end);
  llvm::BasicBlock* last = b.GetInsertBlock();
  llvm::BasicBlock* after = new_block("after");
  b.CreateCondBr(again, loop.point->getParent(), after);
  loop.point->addIncoming(next, last);
  for (std::size_t i = 0; i < carried.size(); ++i) loop.carried[i]->addIncoming(carried[i], last);
  b.SetInsertPoint(after);
}

Branch FunctionEmitter::open_if(Value* condition) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known && known->isOne()) return {};
  const Branch branch{b.GetInsertBlock(), new_block("join")};
  llvm::BasicBlock* inside = new_block("then");
  b.CreateCondBr(condition, inside, branch.join);
  b.SetInsertPoint(inside);
  return branch;
}

void FunctionEmitter::open_else(Branch& branch) {
  INLAY_CHECK(branch.before, "an else of what always holds");
  llvm::BasicBlock* inside = new_block("else");
  branch.before->getTerminator()->setSuccessor(1, inside);
  b.CreateBr(branch.join);
  branch.before = b.GetInsertBlock();
  b.SetInsertPoint(inside);
}

std::vector<Value*> FunctionEmitter::close_if(const Branch& branch, llvm::ArrayRef<Value*> inside,
                                              llvm::ArrayRef<Value*> outside) {
  std::vector<Value*> out(inside.begin(), inside.end());
  if (!branch.before) return out;
  llvm::BasicBlock* last = b.GetInsertBlock();
  b.CreateBr(branch.join);
  b.SetInsertPoint(branch.join);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (inside[i] == outside[i]) continue;
    llvm::PHINode* phi = b.CreatePHI(inside[i]->getType(), 2);
    phi->addIncoming(inside[i], last);
    phi->addIncoming(outside[i], branch.before);
    out[i] = phi;
  }
  return out;
}

void FunctionEmitter::fail(SiteId site, llvm::ArrayRef<Value*> numbers) {
  b.CreateStore(i64(site.valid() ? static_cast<int64_t>(site.index) : -1),
                call_field_address(offsetof(InlayCall, failure_site)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    b.CreateStore(numbers[i], call_field_address(offsetof(InlayCall, failure_numbers) + i * sizeof(int64_t)));
  }
  b.CreateBr(failed_);
}

void FunctionEmitter::fail_if(Value* condition, SiteId site, llvm::ArrayRef<Value*> numbers) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known && known->isZero()) return;
  llvm::BasicBlock* cold = new_block("fail");
  llvm::BasicBlock* go_on = new_block("ok");
  b.CreateCondBr(condition, cold, go_on, unlikely_);
  b.SetInsertPoint(cold);
  fail(site, numbers);
  b.SetInsertPoint(go_on);
}

void FunctionEmitter::return_unless_ok(Value* code) {
  llvm::BasicBlock* leave = new_block("leave");
  llvm::BasicBlock* go_on = new_block("ok");
  b.CreateCondBr(b.CreateICmpNE(code, b.getInt32(INLAY_OK)), leave, go_on, unlikely_);
  b.SetInsertPoint(leave);
  b.CreateRet(code);
  b.SetInsertPoint(go_on);
}

/// Where the flag is that says whether to end: the caller's, or a zero where nobody gave one.
Value* FunctionEmitter::stop_flag() {
  Value*& flag = stop_flags_[writing_ ? 1 : 0];
  if (flag) return flag;
  const llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(entry_, entry_->begin());
  Value* given =
      call_field(writing_ ? offsetof(InlayCall, stop_while_writing) : offsetof(InlayCall, stop), b.getPtrTy());
  auto* never = new llvm::GlobalVariable(module, b.getInt32Ty(), /*isConstant=*/true,
                                         llvm::GlobalValue::InternalLinkage, b.getInt32(0), "never_stop");
  flag = b.CreateSelect(b.CreateIsNull(given), never, given);
  return flag;
}

/// Ends the call with `code` where `ends` is true.
void FunctionEmitter::end_if(Value* ends, Value* code) {
  if (!interrupted_) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(new_block("interrupted"));
    interrupted_ = b.CreatePHI(b.getInt32Ty(), 2);
    b.CreateRet(interrupted_);
  }
  interrupted_->addIncoming(code, b.GetInsertBlock());
  llvm::BasicBlock* go_on = new_block("go_on");
  b.CreateCondBr(ends, interrupted_->getParent(), go_on, unlikely_);
  b.SetInsertPoint(go_on);
}

void FunctionEmitter::end_if_interrupted(Value* status) {
  Value* interrupted = b.getInt32(INLAY_INTERRUPTED);
  end_if(b.CreateICmpEQ(status, interrupted), interrupted);
}

void FunctionEmitter::checkpoint() {
  Value* flag = b.CreateLoad(b.getInt32Ty(), stop_flag(), /*isVolatile=*/true);
  llvm::BasicBlock* cold = new_block("asked_to_stop");
  llvm::BasicBlock* go_on = new_block("go_on");
  b.CreateCondBr(b.CreateICmpNE(flag, b.getInt32(0)), cold, go_on, unlikely_);
  b.SetInsertPoint(cold);
  const auto type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy()}, false);
  Value* ask = call_field(offsetof(InlayCall, interrupted), b.getPtrTy());
  Value* code = b.CreateCall(type, ask, {call_argument()});
  end_if(b.CreateICmpNE(code, b.getInt32(INLAY_OK)), code);
  b.CreateBr(go_on);
  b.SetInsertPoint(go_on);
}

}  // namespace inlay::llvm_backend
