#pragma once
// The arrays that a caller gives for results: fn(x, out=array), as NumPy means it.
//
// Each returned object is the array that was given. It may have any memory layout, and share bytes with what the call
// reads; a failed call leaves it as it was. So a result is written directly into it only where that is safe, and else
// into a new array that is copied when nothing can fail any more.
#include <span>
#include <string>
#include <vector>

#include "array_form.h"
#include "bound_program.h"
#include "runtime/bytes.h"

namespace inlay::python {

class OutArrays {
 public:
  OutArrays() = default;  // none is given

  /// Of the value of `out=`: an array, None, or a tuple of one for each result. Holds no references.
  /// Errors: wrong-dtype, wrong-argument-count, wrong-output.
  OutArrays(PyObject* out, const BoundProgram& program);

  bool empty() const { return arrays_.empty(); }
  PyArrayObject* operator[](std::size_t slot) const { return arrays_[slot]; }

  /// Errors: shape-mismatch.
  void require_shape(std::size_t slot, std::span<const int64_t> dims) const;

  /// Is one given for a result whose shape only the run tells? Then the call may fail after everything has been
  /// written.
  bool has_late() const { return has_late_; }

  /// Do the bytes meet those of an array that is given, other than as the place of the result `except`?
  bool meet(PyArrayObject* array, int except = -1) const;

  /// The results that were made elsewhere are copied to where they belong, and replaced. False: a Python error is set.
  /// Errors: shape-mismatch, before anything is copied.
  bool deliver(std::span<PyObject*> results) const;

 private:
  void require_writable(std::size_t slot) const;
  void require_apart() const;
  std::string name(std::size_t slot) const;

  const BoundProgram* program_ = nullptr;
  std::vector<PyArrayObject*> arrays_;  // by result; null: a new one is wanted
  bool has_late_ = false;
};

runtime::Bytes bytes_of(PyArrayObject* array);

}  // namespace inlay::python
