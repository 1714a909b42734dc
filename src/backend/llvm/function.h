#pragma once
// The function that a program becomes, or a part of it that is a function of its own (parts.h), while it is being
// written.
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
      : FunctionEmitter(program, plan, options, engine, module, Frame::Kind::entry) {}
  /// Of a part. What it takes over goes by parts.h.
  FunctionEmitter(FunctionEmitter& caller, Frame::Kind kind)
      : FunctionEmitter(caller.program, caller.plan, caller.options, caller.engine, caller.module, kind) {}

  bool is_large() { return frame.num_instructions() > options.large_function; }
  llvm::ConstantInt* i64(int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); }

  const kernel::KernelProgram& program;
  const memory::MemoryPlan& plan;
  const EmitOptions& options;
  Engine& engine;
  llvm::Module& module;
  llvm::IRBuilder<> b;
  std::size_t copied_math = 0;  // instructions of vector math that were copied into the module

  Frame frame;
  Ends ends{module, b, frame};
  Sizes sizes{program.symbols.size(), b, frame, ends};
  Places places{program, plan, module, b, frame, sizes};

 private:
  FunctionEmitter(const kernel::KernelProgram& program, const memory::MemoryPlan& plan, const EmitOptions& options,
                  Engine& engine, llvm::Module& module, Frame::Kind kind)
      : program(program),
        plan(plan),
        options(options),
        engine(engine),
        module(module),
        b(module.getContext()),
        frame(module, b, engine.facts(), kind) {
    frame.begin_step();
  }
};

}  // namespace inlay::llvm_backend
