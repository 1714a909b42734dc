#include "backend/llvm/vector_math.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "backend/llvm/math/bitcode.h"
#include "support/error.h"

namespace inlay::llvm_backend {

VectorMath::VectorMath(llvm::LLVMContext& context, int lanes) : lanes_(lanes) {
  const InlayBitcode bitcode = inlay_vector_math_bitcode(lanes);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.bytes), bitcode.size);
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "vector_math"), context);
  INLAY_CHECK(static_cast<bool>(module), "the built-in math is damaged");
  module_ = std::move(*module);
}

const llvm::Function* VectorMath::find(char kind, int lanes, std::string_view name) const {
  return module_ ? module_->getFunction(str("inlay_", std::string_view(&kind, 1), lanes, "_", name)) : nullptr;
}

const llvm::Function* VectorMath::domain_of(const llvm::Function& function) const {
  return module_->getFunction((function.getName() + "_domain").str());
}

namespace {

/// The tables that a function looks things up in, in the module that it is copied to.
class TableCopies : public llvm::ValueMaterializer {
 public:
  explicit TableCopies(llvm::Module& module) : module_(module) {}

  llvm::Value* materialize(llvm::Value* value) override {
    const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(value);
    if (!table || table->getParent() == &module_) return nullptr;
    if (llvm::GlobalVariable* known = module_.getNamedGlobal(table->getName())) return known;
    auto* copy =
        new llvm::GlobalVariable(module_, table->getValueType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                 const_cast<llvm::Constant*>(table->getInitializer()), table->getName());
    copy->setAlignment(llvm::Align(64));
    return copy;
  }

 private:
  llvm::Module& module_;
};

}  // namespace

llvm::Value* stamp(llvm::IRBuilder<>& b, const llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments) {
  INLAY_CHECK(function.size() == 1, "a math function with branches: ", function.getName().str());
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::ValueToValueMapTy copies;
  TableCopies tables(module);
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
      if (const auto at = copies.find(operand.get()); at != copies.end()) {
        operand.set(at->second);
      } else if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get())) {
        operand.set(llvm::MapValue(constant, copies, llvm::RF_None, nullptr, &tables));
      }
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
