#pragma once
// The steps of a program, one function each.
#include "backend/llvm/function.h"

namespace inlay::llvm_backend {

void emit_kernel(FunctionEmitter& f, const kernel::Kernel& kernel);
void emit_library_call(FunctionEmitter& f, const kernel::LibraryCall& call);
void emit_host_call(FunctionEmitter& f, const kernel::HostCall& call);
void emit_copy(FunctionEmitter& f, const kernel::Copy& copy);
void emit_size_check(FunctionEmitter& f, const kernel::SizeCheck& check);
void emit_bind_size(FunctionEmitter& f, const kernel::BindSize& bind);

/// Every step that begins a segment asks for its memory first.
void emit_segment_begin(FunctionEmitter& f, int segment);

/// All of `source` to all of `destination`, wherever either lives.
void emit_transfer(FunctionEmitter& f, BufferId source, BufferId destination);
void emit_fill(FunctionEmitter& f, BufferId buffer, const Literal& value);

}  // namespace inlay::llvm_backend
