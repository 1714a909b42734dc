#include "backend/llvm/frame.h"

#include <algorithm>

#include "backend/llvm/control_flow.h"
#include "inlay/runtime.h"

namespace inlay::llvm_backend {

Frame::Frame(llvm::Module& module, llvm::IRBuilder<>& builder, const TargetFacts& cpu, Kind kind)
    : module_(module), b_(builder), cpu_(cpu) {
  llvm::Type *pointer = b_.getPtrTy(), *status = b_.getInt32Ty();
  if (kind == Kind::part) {
    function_ = helper_function(llvm::FunctionType::get(status, {pointer, pointer}, false), "part");
  } else if (kind == Kind::blocks) {
    const auto type = llvm::FunctionType::get(status, {pointer, pointer, b_.getInt64Ty(), pointer, pointer}, false);
    function_ = helper_function(type, "block");
  } else if (kind == Kind::merge) {
    const auto type = llvm::FunctionType::get(status, {pointer, pointer, pointer, pointer}, false);
    function_ = helper_function(type, "merge");
  } else {
    const auto type = llvm::FunctionType::get(status, {pointer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "inlay_entry", module);
    compile_for_this_cpu(*function_);
  }

  // A product may be fused with the sum that it is folded into: one rounding less than the oracles make. Not with other
  // sums (emit_operation): what two stages compute must be the same number in both, or a maximum is found in none.
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  b_.setFastMathFlags(flags);

  entry_ = llvm::BasicBlock::Create(module.getContext(), "entry", function_);
  b_.SetInsertPoint(entry_);
  counted_ = entry_;
}

void Frame::compile_for_this_cpu(llvm::Function& function) const {
  function.setDSOLocal(true);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("target-cpu", cpu_.cpu);
  function.addFnAttr("target-features", cpu_.features);
  function.addFnAttr("min-legal-vector-width", std::to_string(cpu_.vector_bytes * 8));
  if (cpu_.avx512) function.addFnAttr("prefer-vector-width", "512");
}

llvm::Function* Frame::helper_function(llvm::FunctionType* type, llvm::StringRef name) {
  llvm::Function* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module_);
  compile_for_this_cpu(*function);
  return function;
}

void Frame::begin_step() {
  llvm::Instruction* before = spine_;
  move_spine();
  if (region_depth_ > 0) spine_ = before;
}

void Frame::move_spine() {
  llvm::BasicBlock* next = new_block(b_, "step");
  spine_ = b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

void Frame::finish() {
  b_.CreateRet(b_.getInt32(INLAY_OK));
  if (scratch_) scratch_->setOperand(0, b_.getInt64(scratch_bytes_));
  if (sum_stack_) sum_stack_->setOperand(0, b_.getInt64(sum_stack_bytes_));
}

std::size_t Frame::num_instructions() {
  for (auto block = std::next(counted_->getIterator()); block != function_->end(); ++block) {
    num_counted_ += block->size();
    counted_ = &*block;
  }
  return num_counted_;
}

void Frame::go_to_entry() { b_.SetInsertPoint(entry_, entry_->begin()); }

Value* Frame::call_field_address(size_t offset_bytes) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), call_argument(), offset_bytes);
}

Value* Frame::call_field(size_t offset_bytes, llvm::Type* type) {
  return b_.CreateLoad(type, call_field_address(offset_bytes));
}

llvm::AllocaInst* Frame::stack(llvm::Type* type, uint64_t count) {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  go_to_entry();
  llvm::AllocaInst* out = b_.CreateAlloca(type, b_.getInt64(count));
  out->setAlignment(llvm::Align(64));
  return out;
}

Value* Frame::sum_stack(uint64_t size_bytes) {
  if (!sum_stack_) sum_stack_ = stack(b_.getInt8Ty());
  sum_stack_bytes_ = std::max(sum_stack_bytes_, size_bytes);
  return sum_stack_;
}

Value* Frame::scratch(uint64_t size_bytes) {
  if (!scratch_) scratch_ = stack(b_.getInt8Ty());
  scratch_bytes_ = std::max(scratch_bytes_, size_bytes);
  return scratch_;
}

Value* Frame::lane_array(std::size_t i) {
  constexpr uint64_t kLaneArrayBytes = 128;
  while (lane_arrays_.size() <= i) lane_arrays_.push_back(stack(b_.getInt8Ty(), kLaneArrayBytes));
  return lane_arrays_[i];
}

}  // namespace inlay::llvm_backend
