#pragma once
// From a Graph to machine code. compile.cpp shows the whole route on one page.
#include "compiler/instrument.h"
#include "compiler/options.h"
#include "ir/graph.h"
#include "kernel/kernel.h"
#include "memory/plan.h"
#include "runtime/executable.h"

namespace inlay {

/// A compiled program and how it came about.
struct Program {
  Graph graph;  // after rewriting
  kernel::KernelProgram kernels;
  memory::MemoryPlan plan;
  runtime::Executable executable;
  StageSeconds seconds;  // by stage, in the order of running
};

Program compile_program(const Graph& source, const Options& options = {});

/// The same, for whoever only wants to run it.
runtime::Executable compile(const Graph& source, const Options& options = {});

}  // namespace inlay
