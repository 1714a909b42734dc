#pragma once
// What the copies of an Executable share, and what its options mean.
#include <memory>
#include <span>
#include <vector>

#include "compiler/compile.h"
#include "file/function_file.h"
#include "inlay/compile.h"
#include "runtime/executable.h"

namespace inlay {

/// Throws Error(unknown-name).
Options options_of(const CompileOptions& from);

struct ExecutableState {
  runtime::Executable executable;
  std::vector<HostFunction> host_functions;
  std::vector<TensorInfo> params, results;
  // One of them is there, for the file that it may be saved to: how it was made, or what it was loaded from.
  std::shared_ptr<const EmittedProgram> program;
  std::shared_ptr<const file::FunctionFile> file;
  std::vector<file::Section> sections = {};  // of the file whose kernels were compiled once more
};

std::shared_ptr<const ExecutableState> state_of(runtime::Executable executable,
                                                std::vector<HostFunction> host_functions,
                                                std::shared_ptr<const EmittedProgram> program,
                                                std::shared_ptr<const file::FunctionFile> file,
                                                std::vector<file::Section> sections = {});

}  // namespace inlay
