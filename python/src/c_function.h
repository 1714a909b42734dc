#pragma once
// C pointers to compiled functions: what samplers call, without Python.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bound_program.h"
#include "runtime/flat_function.h"

namespace inlay::python {

/// A C function and all that it needs; valid for as long as this object lives, safe from many threads at once.
///
/// One f64 vector in, of any length, its log density and gradient out: the form that samplers know. Anything else whose
/// sizes are constants: `int (const void *const *inputs, void *const *outputs)`, row-major; 0 is success, < 0 a failed
/// check.
class CFunction {
 public:
  /// `arguments`: one for each of the program's; None where the caller of the C function gives it.
  CFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments);
  ~CFunction();
  CFunction(const CFunction&) = delete;
  CFunction& operator=(const CFunction&) = delete;

  std::uintptr_t address() const;
  const std::string& signature() const { return signature_; }

  /// For a tp_traverse.
  int traverse(visitproc visit, void* arg) const;

  struct Context {
    const BoundProgram* program = nullptr;
    std::vector<const void*> arguments;    // all of them; those of the caller are null
    std::vector<std::size_t> from_caller;  // which those are
    std::vector<int64_t> symbols;          // sizes that the given arrays bind; -1: not known
  };

 private:
  void bind_sizes(const TensorInfo& info, PyArrayObject* array);
  bool is_flat() const;
  void make_flat();
  void make_general();

  HeldProgram program_;
  std::vector<PyObject*> kept_;
  Context context_;
  std::optional<runtime::FlatLogp> flat_;
  runtime::Trampoline general_;
  std::string signature_;
};

}  // namespace inlay::python
