#include "backend/llvm/vector_math.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "backend/llvm/math/bitcode.h"
#include "support/error.h"

namespace inlay::llvm_backend {

VectorMath::VectorMath(llvm::LLVMContext& context) {
  const InlayBitcode bitcode = inlay_vector_math_bitcode();
  const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.bytes), bitcode.size);
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "vector_math"), context);
  INLAY_CHECK(static_cast<bool>(module), "the built-in math is damaged");
  module_ = std::move(*module);
}

const llvm::Function* VectorMath::find(std::string_view name, int lanes) const {
  return module_ ? module_->getFunction(str("inlay_v", lanes, "_", name)) : nullptr;
}

const llvm::Function* VectorMath::find_domain(std::string_view name, int lanes) const {
  return find(str(name, "_domain"), lanes);
}

llvm::Value* stamp(llvm::IRBuilder<>& b, const llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments) {
  INLAY_CHECK(function.size() == 1, "a math function with branches: ", function.getName().str());
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::ValueToValueMapTy copies;
  for (const llvm::Argument& argument : function.args()) copies[&argument] = arguments[argument.getArgNo()];
  for (const llvm::Instruction& original : function.getEntryBlock()) {
    if (const auto* end = llvm::dyn_cast<llvm::ReturnInst>(&original)) {
      llvm::Value* result = end->getReturnValue();
      const auto at = copies.find(result);
      return at == copies.end() ? result : static_cast<llvm::Value*>(at->second);
    }
    llvm::Instruction* copy = original.clone();
    copy->dropUnknownNonDebugMetadata();
    for (llvm::Use& operand : copy->operands()) {
      if (const auto at = copies.find(operand.get()); at != copies.end()) operand.set(at->second);
    }
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(copy)) {  // an intrinsic belongs to a module
      const llvm::Function* callee = call->getCalledFunction();
      call->setCalledFunction(
          module.getOrInsertFunction(callee->getName(), callee->getFunctionType(), callee->getAttributes()));
      call->setAttributes({});  // which refer to the other function
    }
    b.Insert(copy);
    copies[&original] = copy;
  }
  INLAY_CHECK(false, "a math function without a result");
  return nullptr;
}

}  // namespace inlay::llvm_backend
