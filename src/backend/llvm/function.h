#pragma once
// The one function that a program becomes, while it is being written.
//
// int32_t entry(InlayCall*) runs the steps one after the other. Between steps control is in one place, the *spine*:
// what is computed there (sizes, addresses, 0-d values) is defined for everything after it. Code inside a step's loops
// that finds it needs a size or an address has it computed on the spine, just before the step, and code in the body of
// a loop or cond just before the outermost of them: its sizes are known there, since no body binds one.
#include <array>
#include <span>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "backend/llvm/backend.h"
#include "backend/llvm/target.h"

namespace inlay::llvm_backend {

using kernel::BufferId;
using kernel::SiteId;
using llvm::Value;

/// for (point = begin; ; point += step) { ... if (point + step >= end) break; }: runs at least once.
/// What is carried from one pass to the next is `carried` inside.
struct Loop {
  llvm::PHINode* point = nullptr;
  std::vector<llvm::PHINode*> carried;
};

/// See open_if.
struct Branch {
  llvm::BasicBlock* before = nullptr;  // where the other way comes from; null: the condition always holds
  llvm::BasicBlock* join = nullptr;
};

class FunctionEmitter {
 public:
  FunctionEmitter(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const EmitOptions& options,
                  Engine& engine, llvm::Module& module);

  const kernel::KernelProgram& program;
  const memory::MemoryPlan& plan;
  const EmitOptions& options;
  Engine& engine;
  llvm::Module& module;
  llvm::IRBuilder<> b;
  std::size_t copied_math = 0;  // instructions of vector math that were copied into the function

  // ---- function.cpp: the frame
  void begin_step();  // what was emitted so far is the spine of what comes; in a region, what stands before it
  void enter_region() { ++region_depth_; }
  void leave_region() { --region_depth_; }
  void finish();  // return INLAY_OK
  Value* call_argument() const { return function_->getArg(0); }
  Value* call_field(size_t offset_bytes, llvm::Type* type);  // loads a member of the InlayCall, here
  Value* call_field_address(size_t offset_bytes);
  llvm::AllocaInst* stack(llvm::Type* type, uint64_t count = 1);  // on entry, so once for each call
  /// One block of stack for lane-private tables, shared by all stages: each wants it for itself for a while.
  Value* scratch(uint64_t size_bytes);
  /// Another one, for sums whose loop is running; aligned as the largest vector is.
  Value* sum_stack(uint64_t size_bytes);
  /// 128 bytes for the lanes of operand `i` of a function that is called lane by lane.
  Value* lane_array(std::size_t i);

  // ---- function.cpp: control flow
  Loop open_loop(Value* begin, llvm::ArrayRef<Value*> carried);
  void close_loop(const Loop& loop, Value* step, Value* end, llvm::ArrayRef<Value*> carried);
  Branch open_if(Value* condition);
  void open_else(Branch& branch);  // what comes now is inside where the condition does not hold
  /// `inside` where the condition held, else `outside`, one by one.
  std::vector<Value*> close_if(const Branch& branch, llvm::ArrayRef<Value*> inside, llvm::ArrayRef<Value*> outside);
  /// Leaves the function with the site and its numbers when `condition` holds.
  void fail_if(Value* condition, SiteId site, llvm::ArrayRef<Value*> numbers);
  void fail(SiteId site, llvm::ArrayRef<Value*> numbers);  // ends the block
  void return_unless_ok(Value* code);
  /// Looks at the call's stop flag. Where it is 0 that is two loads, a comparison and a branch.
  void checkpoint();
  /// Where that flag is.
  Value* stop_flag();
  /// After what looks by itself: ends the call if its status is INLAY_INTERRUPTED.
  void end_if_interrupted(Value* status);
  /// From here on bytes may have been written that the caller would see.
  void begin_writing() { writing_ = true; }
  llvm::BasicBlock* new_block(const char* name);
  /// A function of the module for what many places would repeat, still empty, compiled for the same CPU.
  llvm::Function* helper_function(llvm::FunctionType* type, llvm::StringRef name);
  llvm::MDNode* unlikely() const { return unlikely_; }

  // ---- types.cpp
  llvm::Type* memory_type(DType dtype) const;                   // bool is a byte
  llvm::Type* register_type(DType dtype, int width = 1) const;  // bool is a bit
  llvm::Constant* constant(const Literal& literal) const;       // of register type
  llvm::Constant* memory_constant(const Literal& literal) const;
  llvm::ConstantInt* i64(int64_t value) const;
  Value* to_memory(Value* value, DType dtype);  // register type -> memory type, any width
  Value* from_memory(Value* value, DType dtype);

  // ---- dims.cpp
  Value* size(const Dim& dim);  // i64, on the spine
  /// Leaves with INLAY_SIZE_OVERFLOW where a size, or a part of it, does not fit in 64 bits. Not in a region.
  void require_fit(std::span<const Dim> sizes);
  void set_symbol(SymbolId symbol, Value* value) { symbols_[symbol.index] = value; }

  // ---- places.cpp
  /// Of the first byte of a buffer, on the spine. A scalar in a register has one only between spill and reload.
  Value* address(BufferId buffer);
  void set_host_address(BufferId buffer, Value* address) {
    (is_host_handle(buffer) ? scalars_ : addresses_)[kernel::root_of(program, buffer).index] = address;
  }
  bool same_place(BufferId a, BufferId b) const;
  bool is_scalar(BufferId buffer) const;
  bool is_host_handle(BufferId buffer) const;  // a value that may change, as a scalar's
  Value* scalar(BufferId buffer) const;        // its value now
  void set_scalar(BufferId buffer, Value* value);
  void spill_scalar(BufferId buffer);  // to its stack slot, so that loops can change it
  void reload_scalar(BufferId buffer);
  bool is_spilled(BufferId buffer) const;
  std::vector<Value*>& scalars() { return scalars_; }

 private:
  void compile_for_this_cpu(llvm::Function& function) const;
  void end_if(Value* ends, Value* code);
  Value* place_of_storage(const memory::Placement& placement);
  Value* literal_address(const kernel::Buffer& buffer);
  Value* dim_value(const Dim& dim);
  Value* atom_value(const Dim::Atom& atom);
  Value* tested_size(const Dim& dim, Value*& overflows);

  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::Instruction* spine_ = nullptr;
  int region_depth_ = 0;
  llvm::BasicBlock* failed_ = nullptr;
  bool writing_ = false;
  std::array<llvm::Value*, 2> stop_flags_ = {};  // before and after it begins to write
  llvm::PHINode* interrupted_ = nullptr;         // the code of who was asked, where that ends the call
  llvm::MDNode* unlikely_ = nullptr;
  llvm::AllocaInst* scratch_ = nullptr;
  llvm::AllocaInst* sum_stack_ = nullptr;
  uint64_t scratch_bytes_ = 0, sum_stack_bytes_ = 0;
  std::vector<Value*> lane_arrays_;
  std::vector<std::pair<Dim, Value*>> sizes_;
  std::vector<Value*> symbols_;    // by symbol
  std::vector<Value*> addresses_;  // by root buffer
  std::vector<Value*> scalars_;    // by root buffer
  std::vector<Value*> slots_;      // by root buffer: of spilled scalars
  std::vector<bool> spilled_;
};

}  // namespace inlay::llvm_backend
