#pragma once
// Work that is cut into blocks (cut_plan.h): a function that runs one of them, another that merges what two have
// folded, and the call that has all of them run (InlayBlocks).
#include <functional>

#include "backend/llvm/cut_plan.h"
#include "backend/llvm/nest_state.h"
#include "backend/llvm/parts.h"

namespace inlay::llvm_backend {

class BlocksEmitter {
 public:
  BlocksEmitter(FunctionEmitter& caller, const kernel::Kernel& kernel, const Cut& cut);

  /// The function that runs a block, and the points of the cut loop that it passes.
  FunctionEmitter& function() { return f_; }
  Range block();
  /// Runs what of a stage is in the block.
  void emit_stage(const kernel::Stage& stage, const StagePlan& plan, llvm::ArrayRef<Value*> outer_points);
  /// What a block folds has met nothing.
  void open_states();
  /// What each outer point has for itself lies in the memory of the thread that runs the block.
  void keep_locals();
  /// The caller has all blocks run, and what they fold added to the buffers.
  void close();

 private:
  /// Where the states of a fold lie, those of each buffer together.
  struct Table {
    const BlockFold* fold;
    std::vector<uint64_t> offsets;  // by state, in bytes
    bool is_direct;                 // one block alone folds into the buffers
  };

  void lay_out_tables();
  Value* is_one_block(FunctionEmitter& f);
  void unless_alone(FunctionEmitter& f, const Table& table, Value* is_alone, llvm::function_ref<void()> emit);
  void open_states(const Table& table);
  Value* length_of_block(FunctionEmitter& f);
  Value* end_of_blocks(FunctionEmitter& f);
  void redirect_buffers();
  Value* lane_states(Value* states);
  Value* place(FunctionEmitter& f, const Table& table, std::size_t state, Value* states, Value* element);
  std::vector<Value*> loaded(FunctionEmitter& f, const Table& table, Value* states, Value* element, int width);
  llvm::Function* merge_function();
  void merge_into_buffers(const Table& table, Value* states);
  void merge_elements(const Table& table, Value* states, Value* first, int width);
  llvm::Function* run_function();

  FunctionEmitter& caller_;
  const kernel::Kernel& kernel_;
  const Cut& cut_;
  Part part_;
  FunctionEmitter& f_;
  std::vector<Table> tables_;
  uint64_t state_bytes_ = 0;   // of a block
  uint64_t short_bytes_ = 0;   // of those what one block alone has too
  uint64_t lanes_offset_ = 0;  // of the sums by lanes
  Dim memory_bytes_ = 0;       // of a thread
  Value* is_alone_ = nullptr;  // of states in the workspace: is there one block? It folds into the buffers
  Value* is_end_ = nullptr;    // runs what is left over, behind all blocks?
  std::function<void(FunctionEmitter& f, Value* states, Value* later)> merge_lanes_;
};

}  // namespace inlay::llvm_backend
