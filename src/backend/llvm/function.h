#pragma once
// The one function that a program becomes, while it is being written.
//
// int32_t entry(InlayCall*) runs the steps one after the other. Between steps control is in one place, the *spine*:
// what is computed there (sizes, addresses, 0-d values) is defined for everything after it. Code inside a step's loops
// that finds it needs a size or an address has it computed on the spine, just before the step, and code in the body of
// a loop or cond just before the outermost of them, where its sizes are known. Behind a step that finds a size in a
// body the spine goes on there, to the end of the body; what was computed on that part of it is forgotten then.
#include "backend/llvm/backend.h"
#include "backend/llvm/control_flow.h"
#include "backend/llvm/places.h"
#include "backend/llvm/types.h"

namespace inlay::llvm_backend {

struct FunctionEmitter {
  FunctionEmitter(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const EmitOptions& options,
                  Engine& engine, llvm::Module& module)
      : program(program), plan(plan), options(options), engine(engine), module(module), b(module.getContext()) {
    frame.begin_step();
  }

  llvm::ConstantInt* i64(int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); }

  const kernel::KernelProgram& program;
  const memory::MemoryPlan& plan;
  const EmitOptions& options;
  Engine& engine;
  llvm::Module& module;
  llvm::IRBuilder<> b;
  std::size_t copied_math = 0;  // instructions of vector math that were copied into the function

  Frame frame{module, b, engine.facts()};
  Ends ends{module, b, frame};
  Sizes sizes{program.symbols.size(), b, frame, ends};
  Places places{program, plan, module, b, frame, sizes};
};

}  // namespace inlay::llvm_backend
