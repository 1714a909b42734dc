#pragma once
// The machine that code is made for, and what LLVM needs to make it.
//
// Setting LLVM up costs more than a small function: a context with the math parsed into it, and a TargetMachine, are
// kept for the process. One compilation at a time uses an engine; those at the same time have one each.
#include <map>
#include <memory>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/llvm/backend.h"
#include "backend/llvm/vector_math.h"

namespace inlay::llvm_backend {

struct TargetFacts {
  std::string cpu, features;
  std::string_view level;
  bool avx512 = false;
  bool fma = false;  // fused multiply-adds are instructions, not calls
  int vector_bytes = 16;
  /// Loads and stores through an index vector: one masked.gather or masked.scatter, or lane by lane. See
  /// docs/codegen.md.
  bool hardware_gather = false;
};

/// Kept for one set of CPU features.
class Engine {
 public:
  explicit Engine(const std::string& features);

  llvm::LLVMContext& context() { return context_; }
  const TargetFacts& facts() const { return facts_; }
  const VectorMath& math() const { return math_; }
  std::unique_ptr<llvm::Module> new_module(const std::string& name);
  llvm::TargetMachine& machine(llvm::CodeGenOptLevel level);

  int num_uses = 0;

 private:
  llvm::LLVMContext context_;
  TargetFacts facts_;
  VectorMath math_;
  std::map<llvm::CodeGenOptLevel, std::unique_ptr<llvm::TargetMachine>> machines_;
};

/// An engine for `features`, on loan for as long as this lives. Whoever compiles may be interrupted by a fork
/// (EmitOptions::checkpoint): the child finds only those that nobody had.
class EngineLoan {
 public:
  explicit EngineLoan(const std::string& features);
  ~EngineLoan();
  EngineLoan(EngineLoan&&) = default;
  Engine& operator*() { return *engine_; }
  Engine* operator->() { return engine_.get(); }

 private:
  std::string features_;
  std::unique_ptr<Engine> engine_;
};

/// The module as an object file; names that it leaves open go to `external_names`. Uses the module up.
void write_object(llvm::Module& module, llvm::TargetMachine& machine, EmitResult& result);
std::string write_assembly(const llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace inlay::llvm_backend
