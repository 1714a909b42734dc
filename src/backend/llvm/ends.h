#pragma once
// Where the function ends before its last step: by a failure, or since it was asked to.
#include <array>

#include "backend/llvm/frame.h"
#include "kernel/kernel.h"

namespace inlay::llvm_backend {

using kernel::SiteId;

class Ends {
 public:
  Ends(llvm::Module& module, llvm::IRBuilder<>& builder, Frame& frame);

  /// Leaves the function with the site and its numbers when `condition` holds.
  void fail_if(Value* condition, SiteId site, llvm::ArrayRef<Value*> numbers);
  void fail(SiteId site, llvm::ArrayRef<Value*> numbers);  // ends the block
  void return_unless_ok(Value* code);
  /// Looks at the call's stop flag. Where it is 0 that is two loads, a comparison and a branch.
  void checkpoint();
  /// Where the flag is that says whether to end: the caller's, or a zero where nobody gave one.
  Value* stop_flag();
  /// After what looks by itself: ends the call if its status is INLAY_INTERRUPTED.
  void end_if_interrupted(Value* status);
  /// From here on bytes may have been written that the caller would see.
  void begin_writing() { writing_ = true; }
  bool is_writing() const { return writing_; }

 private:
  void end_if(Value* ends, Value* code);

  llvm::Module& module_;
  llvm::IRBuilder<>& b_;
  Frame& frame_;
  llvm::BasicBlock* failed_ = nullptr;
  bool writing_ = false;
  std::array<Value*, 2> stop_flags_ = {};  // before and after it begins to write
  llvm::PHINode* interrupted_ = nullptr;   // the code of who was asked, where that ends the call
};

}  // namespace inlay::llvm_backend
