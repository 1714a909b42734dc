#pragma once
// Makes the runtime's plain data of a compiled program: what a caller must know of it.
#include "compiler/backends.h"
#include "kernel/kernel.h"
#include "memory/plan.h"
#include "runtime/executable.h"
#include "runtime/object.h"

namespace inlay {

/// Converts a Dim to the runtime's small program; `symbols` index the program's symbols.
runtime::SizeExpr to_size_expr(const Dim& dim);

/// Returns the signature, error sites, host calls and arena of a planned program, with its machine code.
runtime::Object make_object(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                            std::vector<std::byte> code, std::string entry);

/// Loads an object that this backend has made. `planning` lays out arenas whose sizes are those of a call.
runtime::Executable load(runtime::Object object, const Backend& backend, const memory::PlannerOptions& planning);

}  // namespace inlay
