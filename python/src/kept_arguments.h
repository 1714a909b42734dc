#pragma once
// A program with those of its arguments that are given once, for callers that know nothing of Python.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "bound_program.h"

namespace inlay::python {

/// Immutable once made. Row-major copies of the arrays, the sizes that they bind, and which arguments are the caller's.
class KeptArguments {
 public:
  /// `arguments`: one for each of the program's; None where the caller gives it. Those that `is_elsewhere` says are
  /// neither kept nor the caller's. `refusal` begins the messages: "no C function".
  KeptArguments(const HeldProgram& program, const std::vector<PyObject*>& arguments, std::string refusal,
                const std::function<bool(std::size_t)>& is_elsewhere = {});
  KeptArguments(const KeptArguments&) = delete;
  KeptArguments& operator=(const KeptArguments&) = delete;

  const BoundProgram& program() const { return *program_; }
  std::span<const void* const> addresses() const { return addresses_; }  // by argument; null: the caller's
  std::span<const int64_t> dims(std::size_t argument) const { return dims_[argument]; }
  std::span<const std::size_t> from_caller() const { return from_caller_; }
  std::span<const int64_t> symbols() const { return symbols_; }  // sizes that the given arrays bind; -1: not known

  /// Of all parameters, those of the caller null.
  std::vector<const void*> addresses_by_slot() const;
  /// Likewise.
  std::vector<runtime::TensorRef> refs_by_slot() const;

  /// Throws Error(unsupported) that begins with the refusal.
  [[noreturn]] void refuse(const std::string& why) const;
  /// Another object that must live as long.
  void keep(PyObject* object) { kept_.push_back(nanobind::borrow(object)); }
  /// For a tp_traverse.
  int traverse(visitproc visit, void* arg) const;

 private:
  void keep_argument(std::size_t i, PyObject* argument);

  HeldProgram program_;
  std::string refusal_;
  std::vector<nanobind::object> kept_;
  std::vector<const void*> addresses_;
  std::vector<std::size_t> from_caller_;
  std::vector<int64_t> symbols_;
  std::vector<std::vector<int64_t>> dims_;
};

}  // namespace inlay::python
