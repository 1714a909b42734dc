#pragma once
// The function itself: its call, its stack, and where its steps begin.
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "backend/llvm/target.h"

namespace inlay::llvm_backend {

using llvm::Value;

class Frame {
 public:
  /// `entry`: int32_t inlay_entry(InlayCall*). `part`: what it, or a part of it, calls (parts.h), with the values that
  /// go over as the second argument. `blocks`: a part that runs a block of work (InlayBlocks::run).
  /// `merge`: what merges the states of two blocks (InlayBlocks::merge).
  enum class Kind : uint8_t { entry, part, blocks, merge };
  Frame(llvm::Module& module, llvm::IRBuilder<>& builder, const TargetFacts& cpu, Kind kind);

  void begin_step();  // what was emitted so far is the spine of what comes; in a region, what stands before it
  /// In a region too: until it is moved back, sizes and addresses are computed from here on.
  void move_spine();
  llvm::Instruction* spine() const { return spine_; }
  void move_spine_back(llvm::Instruction* spine) { spine_ = spine; }
  void enter_region() { ++region_depth_; }
  void leave_region() { --region_depth_; }
  void finish();  // return INLAY_OK

  std::size_t num_instructions();  // by now, about

  void go_to_entry();
  void go_to_spine() { b_.SetInsertPoint(spine_); }

  llvm::Function* function() const { return function_; }
  Value* call_argument() const { return function_->getArg(0); }
  Value* passed_argument() const { return function_->getArg(1); }  // of a part
  Value* block_argument() const { return function_->getArg(2); }   // of blocks: the number of the block
  Value* memory_argument() const { return function_->getArg(4); }  // likewise: of the thread, or null
  Value* states_argument() const { return function_->getArg(3); }  // likewise: what it folds
  Value* call_field(size_t offset_bytes, llvm::Type* type);        // loads a member of the InlayCall, here
  Value* call_field_address(size_t offset_bytes);

  llvm::AllocaInst* stack(llvm::Type* type, uint64_t count = 1);  // on entry, so once for each call
  /// One block of stack for lane-private tables, shared by all stages: each wants it for itself for a while.
  Value* scratch(uint64_t size_bytes);
  /// Another one, for sums whose loop is running; aligned as the largest vector is.
  Value* sum_stack(uint64_t size_bytes);
  /// 128 bytes for the lanes of operand `i` of a function that is called lane by lane.
  Value* lane_array(std::size_t i);

  /// A function of the module for what many places would repeat, still empty, compiled for the same CPU.
  llvm::Function* helper_function(llvm::FunctionType* type, llvm::StringRef name);

 private:
  void compile_for_this_cpu(llvm::Function& function) const;

  llvm::Module& module_;
  llvm::IRBuilder<>& b_;
  const TargetFacts& cpu_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::Instruction* spine_ = nullptr;
  int region_depth_ = 0;
  llvm::BasicBlock* counted_ = nullptr;  // the last block that num_counted_ has
  std::size_t num_counted_ = 0;          // instructions
  llvm::AllocaInst* scratch_ = nullptr;
  llvm::AllocaInst* sum_stack_ = nullptr;
  uint64_t scratch_bytes_ = 0, sum_stack_bytes_ = 0;
  std::vector<Value*> lane_arrays_;
};

}  // namespace inlay::llvm_backend
