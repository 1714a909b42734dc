#pragma once
// A compiled program: machine code behind a call. Immutable, cheap to copy, safe from many threads at once.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "inlay/buffer.h"

namespace inlay {

struct ExecutableState;  // what the copies of an Executable share

/// A parameter or a result.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f64;
  std::vector<std::string> dims;  // "3", "n", "n + 1"
  bool bound = false;             // of a parameter: its array does not change from call to call
};

class Executable {
 public:
  const std::vector<TensorInfo>& params() const;
  const std::vector<TensorInfo>& results() const;

  /// One argument for each parameter, in their order. Checks number, dtypes and shapes; the results are new arrays.
  /// Throws Error: about the arguments, or what a check in the program found. The arguments are never written; those
  /// that are not row-major are copied first.
  std::vector<Array> operator()(std::span<const ArrayRef> arguments) const;
  std::vector<Array> operator()(std::initializer_list<ArrayRef> arguments) const {
    return (*this)(std::span<const ArrayRef>(arguments.begin(), arguments.size()));
  }

  /// The same with the results in memory of yours, one place for each in their order. A place may share bytes with
  /// arguments, but not with another place. What cannot be written there without harm is computed elsewhere and copied
  /// at the end: so a call that fails has changed nothing. That of a result that takes the bytes of a donated parameter
  /// may be the argument itself, which is then changed where it lies.
  void into(std::span<const ArrayRef> arguments, std::span<const ArrayOut> results) const;
  void into(std::initializer_list<ArrayRef> arguments, std::initializer_list<ArrayOut> results) const {
    into(std::span<const ArrayRef>(arguments.begin(), arguments.size()),
         std::span<const ArrayOut>(results.begin(), results.size()));
  }

  /// The same for sizes that stay: everything that needs checking is checked once, and a call is a few stores and a
  /// jump.
  class Call {
   public:
    /// Shapes of the results.
    const std::vector<std::vector<int64_t>>& result_dims() const { return result_dims_; }
    /// Addresses by position; arguments as they were prepared, results as long as result_dims says, none overlapping.
    /// Allocates nothing once the thread has its working memory. Throws Error where a check in the program fails; the
    /// results then hold anything.
    void operator()(const void* const* arguments, void* const* results) const;

   private:
    friend class Executable;
    std::shared_ptr<const ExecutableState> state_;
    std::vector<int64_t> symbols_;
    std::vector<std::vector<int64_t>> result_dims_;
  };
  /// `like`: arguments with the dtypes and shapes of the calls to come, row-major; their data is not looked at.
  /// Throws Error(unsupported) for a program whose results have sizes that only a run knows.
  Call prepare(std::span<const ArrayRef> like) const;

  explicit Executable(std::shared_ptr<const ExecutableState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const ExecutableState> state_;
};

}  // namespace inlay
