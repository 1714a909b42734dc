#pragma once
// Calls of a bound program from C, on addresses, that say in words what went wrong.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kept_arguments.h"
#include "support/error.h"

namespace inlay::python {

/// A function of arrays whose sizes each call says. Immutable; any number of threads may call it.
class ForeignFunction {
 public:
  /// Throws Error where no call could be made: an array is opaque, a result's size is found while the program runs, a
  /// call would overwrite an argument. `refusal` begins the message.
  ForeignFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments, std::string refusal);

  const KeptArguments& arguments() const { return arguments_; }
  std::size_t num_arguments() const { return arguments_.from_caller().size(); }
  std::size_t num_results() const { return arguments_.program().results().size(); }
  const ArrayForm& argument(std::size_t i) const;
  const ArrayForm& result(std::size_t i) const { return arguments_.program().results()[i]; }

  /// Sizes by symbol, of arguments with these dims, which must live as long as the call. Throws Error where they do not
  /// fit.
  void bind(std::span<const int64_t* const> dims, std::span<int64_t> symbols) const;
  std::size_t num_symbols() const { return arguments_.symbols().size(); }

  /// Runs on row-major arrays of these sizes, on the calling thread. The error of what failed, if something did.
  std::optional<Error> run(const void* const* given, std::span<const int64_t> symbols, void** results) const noexcept;

 private:
  KeptArguments arguments_;
  std::vector<runtime::TensorRef> refs_;  // by slot; those of the caller are empty
  std::vector<std::size_t> slots_;        // of the caller's arguments
};

/// Ends the life of an object that holds Python's, on whatever thread; leaves it where Python is at its end.
struct WithGil {
  void operator()(const ForeignFunction* function) const;
};

}  // namespace inlay::python
