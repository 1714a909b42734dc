#pragma once
// Compiles a Graph to machine code. compile.cpp shows the whole route on one page; inlay/compile.h is the C++
// interface.
#include <string_view>
#include <variant>

#include "compiler/instrument.h"
#include "compiler/options.h"
#include "explain/why_apart.h"
#include "ir/graph.h"
#include "kernel/kernel.h"
#include "memory/plan.h"
#include "runtime/executable.h"

namespace inlay {

/// A program before any machine code: all that the kernel evaluator and the dumps need.
struct Lowered {
  Graph graph;  // after rewriting
  kernel::KernelProgram kernels;
  std::string order_gain;  // what the order of steps saves (memory/step_order.h); empty: it is the order of fuse
  memory::MemoryPlan plan;
  StageSeconds seconds;  // by stage, in the order of running
  std::vector<PassCounts> rewrites;
  std::string last_rewrite;  // the rule that fired last: with --bisect=N, the N-th
  fuse::Mode fuse = fuse::Mode::full;
  kernel::BackendCaps caps;  // the backend that it was fused for

  /// Returns the kernels that share data but are not one kernel, with reasons. Computed when it is asked for.
  std::vector<explain::Apart> apart() const { return explain::why_apart(kernels, caps, fuse); }
};

/// A program for which machine code was made: all of it but the code.
struct EmittedProgram : Lowered {
  std::string backend;             // that made the code: "llvm"
  std::string target;              // the machine that it is for: "x86-64, avx2 (znver3)"
  std::vector<std::string> needs;  // the instruction sets that it may use (support/cpu_features.h)
  memory::PlannerOptions planning;
  std::string cpu_features;       // what was chosen of the CPU (Options); empty: all that it has
  bool shares_by_rule = true;     // no function of the caller's chose what shares bytes
  bool single_precision = false;  // it was rewritten so (PassOptions)
};

/// A compiled program, with how it was made.
struct Program : EmittedProgram {
  runtime::Executable executable;
};

/// Lowers a graph to planned kernels. Works without a code generator too.
Lowered lower(const Graph& source, const Options& options = {});

Program compile_program(const Graph& source, const Options& options = {});

/// Returns the kernels of a rewritten graph, for a backend with these capabilities, before they are planned.
kernel::KernelProgram kernels_of(const Graph& graph, const kernel::BackendCaps& caps, const Options& options = {});

/// Returns the program after the pass `last` of either list, or after `fuse`; after `fuse` its bodies have gone through
/// all of their passes. Throws Error(unknown-name).
std::variant<Graph, kernel::KernelProgram> lower_until(const Graph& source, std::string_view last,
                                                       const Options& options = {});

/// Runs one pass alone. Throws Error: unknown-name, unsupported for `fuse` and for a pass of the other list.
Graph run_pass(const Graph& graph, std::string_view pass, const Options& options = {});
kernel::KernelProgram run_pass(const kernel::KernelProgram& kernels, std::string_view pass,
                               const Options& options = {});

/// Lowers a program from its kernels on: `inlay run` does this with a dump of them. `graph` of the result is empty.
Lowered lower(const kernel::KernelProgram& kernels, const Options& options = {});
Program compile_program(const kernel::KernelProgram& kernels, const Options& options = {});

}  // namespace inlay
