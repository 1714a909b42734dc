#pragma once
// LLVM's passes over a module that is finished, so that whoever waits for them can leave.
//
// LLVM cannot be ended on its way, and one large function takes it seconds. So a large module is worked on by a thread
// of its own, with nobody's memory but its own: who is interrupted meanwhile leaves at once, and what the thread makes
// is thrown away when it is done.
#include "backend/llvm/target.h"

namespace inlay::llvm_backend {

struct Interrupted {};

/// Lets a fork happen. Throws Interrupted where that is wanted.
void look_up(const EmitOptions& options);

/// Fills in the object and what is undefined in it, and the assembly where it is wanted. Throws Interrupted.
void generate_code(EngineLoan engine, std::unique_ptr<llvm::Module> module, llvm::CodeGenOptLevel level,
                   const EmitOptions& options, EmitResult& result);

}  // namespace inlay::llvm_backend
