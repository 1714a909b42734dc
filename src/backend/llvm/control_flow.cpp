#include "backend/llvm/control_flow.h"

#include <llvm/IR/MDBuilder.h>

#include "support/error.h"

namespace inlay::llvm_backend {

llvm::BasicBlock* new_block(llvm::IRBuilder<>& b, const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

llvm::MDNode* unlikely(llvm::IRBuilder<>& b) { return llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1 << 20); }

Loop open_loop(llvm::IRBuilder<>& b, Value* begin, llvm::ArrayRef<Value*> carried) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* body = new_block(b, "loop");
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

void close_loop(llvm::IRBuilder<>& b, const Loop& loop, Value* step, Value* end, llvm::ArrayRef<Value*> carried) {
  Value* next = b.CreateAdd(loop.point, step, "", /*HasNUW=*/true, /*HasNSW=*/true);
  Value* again = b.CreateICmpSLT(next, end);
  llvm::BasicBlock* last = b.GetInsertBlock();
  llvm::BasicBlock* after = new_block(b, "after");
  b.CreateCondBr(again, loop.point->getParent(), after);
  loop.point->addIncoming(next, last);
  for (std::size_t i = 0; i < carried.size(); ++i) loop.carried[i]->addIncoming(carried[i], last);
  b.SetInsertPoint(after);
}

bool never_holds(const Value* condition) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition);
  return known && known->isZero();
}

Branch open_if(llvm::IRBuilder<>& b, Value* condition) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known && known->isOne()) return {};
  const Branch branch{b.GetInsertBlock(), new_block(b, "join")};
  llvm::BasicBlock* inside = new_block(b, "then");
  b.CreateCondBr(condition, inside, branch.join);
  b.SetInsertPoint(inside);
  return branch;
}

void open_else(llvm::IRBuilder<>& b, Branch& branch) {
  INLAY_CHECK(branch.before, "an else of what always holds");
  llvm::BasicBlock* inside = new_block(b, "else");
  branch.before->getTerminator()->setSuccessor(1, inside);
  b.CreateBr(branch.join);
  branch.before = b.GetInsertBlock();
  b.SetInsertPoint(inside);
}

std::vector<Value*> close_if(llvm::IRBuilder<>& b, const Branch& branch, llvm::ArrayRef<Value*> inside,
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

}  // namespace inlay::llvm_backend
