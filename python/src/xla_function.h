#pragma once
// Compiled functions as calls within programs of XLA (typed FFI, CPU): what JAX runs.
//
// One target serves all functions. A call names its function by a random number, an attribute, so that a program that
// JAX keeps on disk never finds another function in a later process. Where XLA makes an executable of a program, the
// call's own state takes a reference to the function, which so lives as long as that executable.
//
// XLA's header comes with jaxlib. A build that did not find it has no handlers, and Python says so.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "foreign_call.h"

namespace inlay::python {

class XlaFunction {
 public:
  /// As ForeignFunction's.
  XlaFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments);

  const ForeignFunction& function() const { return *function_; }
  int64_t number() const { return number_; }
  /// Of all results, for arguments of these dims. Throws Error where they do not fit.
  std::vector<std::vector<int64_t>> result_dims(const std::vector<std::vector<int64_t>>& dims) const;

 private:
  std::shared_ptr<const ForeignFunction> function_;
  int64_t number_ = 0;
};

void bind_xla(nanobind::module_& module);

}  // namespace inlay::python
