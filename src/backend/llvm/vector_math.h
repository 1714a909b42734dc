#pragma once
// Elementary functions of eight, four or two doubles, and of twice as many floats, copied into the loops that use them.
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
  VectorMath(llvm::LLVMContext& context, int lanes);

  /// How many doubles a function takes; of floats it takes twice as many.
  int doubles() const { return lanes_; }
  int floats() const { return 2 * lanes_; }

  /// `exp` of doubles: <8 x double> inlay_d8_exp(<8 x double>). Null: there is none.
  const llvm::Function* of_doubles(std::string_view name) const { return find('d', doubles(), name); }
  const llvm::Function* of_floats(std::string_view name) const { return find('f', floats(), name); }

  /// Of a function: i8 inlay_d8_lgamma_domain(<8 x double>), or a vector of integers, which sets the lanes whose value
  /// is right. Null: all are.
  const llvm::Function* domain_of(const llvm::Function& function) const;

 private:
  const llvm::Function* find(char kind, int lanes, std::string_view name) const;

  int lanes_ = 0;
  std::unique_ptr<llvm::Module> module_;
};

/// The value of `function(arguments)`, computed by a copy of its instructions at the builder's place.
llvm::Value* stamp(llvm::IRBuilder<>& b, const llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace inlay::llvm_backend
