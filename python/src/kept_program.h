#pragma once
// A compiled program as Python keeps it: from a compilation, or from a file, whose texts are read when they are asked
// for.
#include <memory>
#include <mutex>
#include <optional>

#include "compiler/compile.h"
#include "compiler/saved.h"

namespace inlay::python {

class KeptProgram {
 public:
  explicit KeptProgram(Program program)
      : program_(std::move(static_cast<EmittedProgram&>(program))),
        executable_(std::make_shared<const runtime::Executable>(std::move(program.executable))) {}
  /// The code of the file must be able to run here.
  explicit KeptProgram(std::shared_ptr<const file::FunctionFile> file)
      : file_(std::move(file)), executable_(std::make_shared<const runtime::Executable>(load_code(*file_))) {}

  std::shared_ptr<const runtime::Executable> executable() const { return executable_; }

  const EmittedProgram& program() const {
    std::call_once(once_, [this] {
      if (!program_) program_ = read_program(*file_);
    });
    return *program_;
  }

  /// Throws Error(unsupported), see file_of.
  file::FunctionFile file() const { return file_ ? *file_ : file_of(program(), *executable_); }

 private:
  mutable std::once_flag once_;
  mutable std::optional<EmittedProgram> program_;
  std::shared_ptr<const file::FunctionFile> file_;  // null: it was compiled here
  std::shared_ptr<const runtime::Executable> executable_;
};

}  // namespace inlay::python
