#pragma once
// A compiled program: machine code behind a call. Immutable, cheap to copy, safe from many threads at once.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/buffer.h"

namespace inlay {

struct ExecutableState;  // shared by the copies of an Executable

/// The function that a `host_call` of the graph calls: it takes the operands and returns the results. An exception in
/// it fails the call with Error(host_call_failed).
using HostFunction = std::function<std::vector<Array>(std::span<const ArrayRef> operands)>;

/// A parameter or a result.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f64;
  std::vector<std::string> dims;  // "3", "n", "n + 1"
  bool bound = false;             // for a parameter: its array stays the same in all calls
};

class Executable {
 public:
  const std::vector<TensorInfo>& params() const;
  const std::vector<TensorInfo>& results() const;

  /// Calls the program with one argument for each parameter, in order, and returns the results as new arrays. Checks
  /// the number, the dtypes and the shapes of the arguments. Throws Error if they do not fit or a check of the program
  /// fails. Arguments are never written; those that are not row-major are copied first.
  std::vector<Array> operator()(std::span<const ArrayRef> arguments) const;
  std::vector<Array> operator()(std::initializer_list<ArrayRef> arguments) const {
    return (*this)(std::span<const ArrayRef>(arguments.begin(), arguments.size()));
  }

  /// Calls the program and writes the results to memory of the caller, one ArrayOut for each result, in order. An
  /// ArrayOut may share bytes with arguments, but not with another ArrayOut. A result that could not be written there
  /// safely is computed elsewhere and copied at the end, so a call that fails changes nothing. The ArrayOut of a result
  /// that takes the bytes of a donated parameter may be the argument itself, which is then updated in place.
  void into(std::span<const ArrayRef> arguments, std::span<const ArrayOut> results) const;
  void into(std::initializer_list<ArrayRef> arguments, std::initializer_list<ArrayOut> results) const {
    into(std::span<const ArrayRef>(arguments.begin(), arguments.size()),
         std::span<const ArrayOut>(results.begin(), results.size()));
  }

  /// A call with fixed sizes: everything that needs a check is checked once, in `prepare`; each call is a few stores
  /// and a jump.
  class Call {
   public:
    /// Returns the shapes of the results.
    const std::vector<std::vector<int64_t>>& result_dims() const { return result_dims_; }
    /// Takes the addresses of arguments and results by position. Arguments have the dtypes and shapes of `like`,
    /// results the shapes of result_dims(), all row-major; a result may overlap neither another one nor an argument,
    /// and the argument of a donated parameter no other argument: its bytes are unspecified afterwards. Allocates
    /// nothing once the thread has its working memory. Throws Error if a check of the program fails; the results are
    /// then unspecified.
    void operator()(const void* const* arguments, void* const* results) const;

   private:
    friend class Executable;
    std::shared_ptr<const ExecutableState> state_;
    std::vector<int64_t> symbols_;
    std::vector<std::vector<int64_t>> result_dims_;
  };
  /// Prepares calls with the dtypes and shapes of `like`, row-major; the data of `like` is not read. Throws
  /// Error(unsupported) if the program has results whose sizes are only known during a run.
  Call prepare(std::span<const ArrayRef> like) const;

  /// Writes the function to a file, which `load` makes an Executable of, also in another process: its code, and its
  /// kernels for a CPU that cannot run that code. Like a program, the file is code. The file that stood there is
  /// replaced once the new one is complete. Throws Error: unsupported where a function of the caller's lays out the
  /// memory or chose what shares bytes, invalid-file where it cannot be written.
  void save(const std::filesystem::path& path) const;
  std::vector<std::byte> to_bytes() const;

  /// Loads a function that was saved, without compiling it where this CPU has what its code uses. `host_functions` are
  /// those that it was compiled with. Throws Error(invalid-file) for a file that is none, is damaged, or has another
  /// format; nothing of it is used then.
  static Executable load(const std::filesystem::path& path, std::vector<HostFunction> host_functions = {});
  /// `name` is for messages.
  static Executable from_bytes(std::span<const std::byte> bytes, std::string_view name = "the function",
                               std::vector<HostFunction> host_functions = {});

  explicit Executable(std::shared_ptr<const ExecutableState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const ExecutableState> state_;
};

}  // namespace inlay
