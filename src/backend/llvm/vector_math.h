#pragma once
// Elementary functions of eight doubles, and of sixteen floats, copied into the loops that use them.
//
// The functions were compiled to bitcode when inlay was built (math/). A call would spill every vector register around
// it and costs up to half again as much as the function itself; and no inliner runs here. Each function is one basic
// block, so its instructions are cloned to where its value is wanted: in a module that is not yet long by that. A long
// one costs more to compile than its calls will ever win back, so it calls what was compiled with inlay
// (math/vector_code.h).
#include <memory>
#include <string_view>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace inlay::llvm_backend {

class VectorMath {
 public:
  VectorMath() = default;  // has no function
  explicit VectorMath(llvm::LLVMContext& context);

  /// `exp` of 8: <8 x double> inlay_v8_exp(<8 x double>); of 16 it has floats. Null: there is none.
  const llvm::Function* find(std::string_view name, int lanes) const;
  /// `lgamma` of 8: i8 inlay_v8_lgamma_domain(<8 x double>), a bit for each lane whose value is right. Null: all are.
  const llvm::Function* find_domain(std::string_view name, int lanes) const;

 private:
  std::unique_ptr<llvm::Module> module_;
};

/// The value of `function(arguments)`, computed by a copy of its instructions at the builder's place.
llvm::Value* stamp(llvm::IRBuilder<>& b, const llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace inlay::llvm_backend
