#pragma once
// What each step of a program computes, in a line or two: what `print(explain(f))` shows, and what the picture of
// memory calls a step.
//
// The text form of a kernel is exact and long. Here a kernel is the formulas of what it writes, with the user's names:
// `theta_grad = (y - mu)/sigma`. A value that is used twice gets a name first (`t1 = ...`), a scalar of few operations
// is shown where it is read, and checks and starts from zero are left out.
#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// Elements [first, first + length) of a vector that have a name of the user's: `alpha` in the one vector that PyMC
/// joins its variables into, `alpha_grad` in the one that it joins their gradients into.
struct NamedPart {
  BufferId buffer;
  Dim first, length;
  std::string name;
};

/// Returns the named slices of a parameter, and the named operands of a concatenation that is returned.
std::vector<NamedPart> named_parts(const KernelProgram& program, const Graph& graph);

struct StepSummary {
  /// "kernel", "numbers" (0-d arithmetic), "library call", "host call", "copy", "loop", "condition"; empty: the step
  /// computes nothing (a check, a marker).
  std::string kind;
  std::string name;                   // "@k0", "matmul"; of a host call its op's
  std::string title;                  // what stands before its formulas: "@k0 over n x m"; empty: they say all
  std::vector<std::string> makes;     // what later steps or the caller read
  std::vector<std::string> formulas;  // in order: a name comes before its uses
  std::vector<std::string> loops;     // "85", "n x m": the points of each loop nest, each once
  bool returns = false;               // does it write a result of the call?
  Dim read_bytes, written_bytes;      // of memory, in one iteration
  std::optional<Dim> flops;           // in one iteration (kernel/flops.h); nothing: not known
  int depth = 0;                      // how many loops and conditions contain it
};

/// Returns the summaries by step, without elided parts: an elided copy computes nothing.
std::vector<StepSummary> summaries(const KernelProgram& program, const std::vector<NamedPart>& parts);

}  // namespace inlay::kernel
