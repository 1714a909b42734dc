#pragma once
// Loops and branches of the function that a builder is in.
#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace inlay::llvm_backend {

using llvm::Value;

llvm::BasicBlock* new_block(llvm::IRBuilder<>& b, const char* name);
llvm::MDNode* unlikely(llvm::IRBuilder<>& b);  // weights of a branch whose first way is hardly ever taken

/// Is the condition known not to hold?
bool never_holds(const Value* condition);

/// for (point = begin; ; point += step) { ... if (point + step >= end) break; }: runs at least once.
/// What is carried from one pass to the next is `carried` inside.
struct Loop {
  llvm::PHINode* point = nullptr;
  std::vector<llvm::PHINode*> carried;
};
Loop open_loop(llvm::IRBuilder<>& b, Value* begin, llvm::ArrayRef<Value*> carried);
void close_loop(llvm::IRBuilder<>& b, const Loop& loop, Value* step, Value* end, llvm::ArrayRef<Value*> carried);

struct Branch {
  llvm::BasicBlock* before = nullptr;  // where the other way comes from; null: the condition always holds
  llvm::BasicBlock* join = nullptr;
};
Branch open_if(llvm::IRBuilder<>& b, Value* condition);
/// What comes now is inside where the condition does not hold.
void open_else(llvm::IRBuilder<>& b, Branch& branch);
/// `inside` where the condition held, else `outside`, one by one.
std::vector<Value*> close_if(llvm::IRBuilder<>& b, const Branch& branch, llvm::ArrayRef<Value*> inside,
                             llvm::ArrayRef<Value*> outside);

}  // namespace inlay::llvm_backend
