#pragma once
// A program as a file holds it: a graph, or kernels.
#include <string>
#include <string_view>
#include <variant>

#include "ir/graph.h"
#include "kernel/kernel.h"

namespace inlay::tool {

using ProgramFile = std::variant<Graph, kernel::KernelProgram>;

/// Is the first word of the text, that is in no comment, `program`?
bool holds_kernels(std::string_view text);

/// Reads what the file's first word says: `graph` or `program`. A program test is a program too: what follows its first
/// directive is left out. Throws the first thing that is wrong, also what a verifier finds.
ProgramFile read_program(const std::string& path);

}  // namespace inlay::tool
