#pragma once
// What each step of a program computes, in a line or two: what `print(explain(f))` shows, and what the picture of
// memory calls a step.
//
// The text form of a kernel is exact and long. Here a kernel is the formulas of what it writes, in the names that the
// user gave: `theta_grad = (y - mu)/sigma`. A value that is used twice gets a name first (`t1 = ...`), a single number
// that needs few operations stands where it is read, and what only guards (checks, starts from zero) is left out.
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Elements [first, first + length) of a vector that the user knows by a name of their own: `alpha` in the one vector
/// that PyMC joins its variables into, `alpha_grad` in the one that it joins their gradients into.
struct NamedPart {
  BufferId buffer;
  Dim first, length;
  std::string name;
};

/// The slices of a parameter, and the operands of a concatenation that is returned, which have names in the graph.
std::vector<NamedPart> named_parts(const KernelProgram& program, const Graph& graph);

struct StepSummary {
  /// "kernel", "numbers" (0-d arithmetic), "library call", "host call", "copy", "loop", "condition"; empty: the step
  /// computes nothing (a check, a marker).
  std::string kind;
  std::string name;                   // "@k0", "matmul"; of a host call its op's
  std::vector<std::string> makes;     // what later steps or the caller read
  std::vector<std::string> formulas;  // in order: a name stands before its uses
  std::vector<std::string> loops;     // "85", "n x m": the points of each loop nest, each once
  bool returns = false;               // does it write a result of the call?
  Dim read_bytes, written_bytes;      // of memory, in one pass
  int depth = 0;                      // in so many loops and conditions
};

/// By step, without what is elided: a copy that is computes nothing.
std::vector<StepSummary> summaries(const KernelProgram& program, const std::vector<NamedPart>& parts);

}  // namespace inlay::kernel
