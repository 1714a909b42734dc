#pragma once
// What a caller must know of a compiled program, as the runtime's plain data.
#include "kernel/kernel.h"
#include "memory/plan.h"
#include "runtime/object.h"

namespace inlay {

/// A Dim as the runtime's small program; `symbols` index the program's symbols.
runtime::SizeExpr to_size_expr(const Dim& dim);

/// The signature, error sites, host calls and arena of a planned program, around its machine code.
runtime::Object make_object(const kernel::KernelProgram& program, const memory::MemoryPlan& plan,
                            std::vector<std::byte> code, std::string entry);

}  // namespace inlay
