#pragma once
// A program as a file holds it: a graph, or kernels.
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "kernel/kernel.h"
#include "network_flags.h"
#include "onnx/model.h"
#include "oracle/reference/evaluate.h"

namespace inlay::tool {

using ProgramFile = std::variant<Graph, kernel::KernelProgram>;

/// What a file's program is written as, without the directives of a program test. Throws Error(unsupported) for a
/// compiled function.
std::string program_text(const std::string& path);

/// Is the first word of the text, that is in no comment, `program`?
bool holds_kernels(std::string_view text);

/// The kernels that a file's text says. Throws Error(invalid_program) for what the verifier rejects.
kernel::KernelProgram kernels_of(std::string_view text, const std::string& path);

/// Runs kernels of a file by the evaluator, which looks at each access. Throws Error(invalid_program) for one that is
/// out of bounds, and whatever else is wrong with these sizes and indices.
std::vector<reference::Tensor> run_kernels_of(const std::string& path, const kernel::KernelProgram& kernels,
                                              std::span<const reference::Tensor> inputs);

/// A program with the arrays of its bound parameters, which a network has.
struct LoadedProgram {
  ProgramFile program;
  std::vector<onnx::Tensor> weights;  // in the order of the parameters; none: they are arguments
};

/// Throws as read_program does.
LoadedProgram load_program(const std::string& path, const NetworkFlags& flags);

/// Reads what the file's first word says: `graph` or `program`; or a network, where its name ends in .onnx. A program
/// test is a program too: what follows its first directive is left out. A network's weights are not read. Throws the
/// first thing that is wrong, also what a verifier finds.
ProgramFile read_program(const std::string& path, const NetworkFlags& flags);

}  // namespace inlay::tool
