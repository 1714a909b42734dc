#pragma once
// C pointers to compiled functions: what samplers call, without Python.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "kept_arguments.h"
#include "runtime/flat_function.h"
#include "runtime/trampoline.h"

namespace inlay::python {

/// A C function and all that it needs; valid for as long as this object lives, safe from many threads at once.
///
/// One f64 vector in, of any length, its log density and gradient out, or other values of it: the forms that samplers
/// know. Anything else whose sizes are constants: `int (const void *const *inputs, void *const *outputs)`, row-major;
/// 0 is success, < 0 a failed check.
class CFunction {
 public:
  struct DataOffsets {
    std::size_t address = 0, dims = 0;
  };
  struct Options {
    std::optional<runtime::FlatForm> form;     // none: the log density where it is one, else the general form
    std::map<std::size_t, DataOffsets> data;   // by argument: where it stands in user_data
    PyObject* on_error = Py_None;              // called with the exception of a failed call of a flat form
    bool keeps_going = false;                  // as in runtime::FlatSpec
    std::optional<runtime::CallersPool> pool;  // whose threads run it; none: the process's
  };

  /// `arguments`: one for each of the program's; None where the caller of the C function gives it.
  CFunction(const HeldProgram& program, const std::vector<PyObject*>& arguments, const Options& options);
  CFunction(const CFunction&) = delete;
  CFunction& operator=(const CFunction&) = delete;

  std::uintptr_t address() const;
  std::uintptr_t stop_address() const { return reinterpret_cast<std::uintptr_t>(&stop_); }
  const std::string& signature() const { return signature_; }
  std::optional<std::string> last_error() const { return flat_ ? flat_->last_error() : std::nullopt; }

  /// For a tp_traverse.
  int traverse(visitproc visit, void* arg) const { return arguments_.traverse(visit, arg); }

 private:
  static int call_general(const void* const* inputs, void** outputs, const void*, const void*, const void*,
                          const void* self) noexcept;
  bool is_logp() const;
  void make_flat(const Options& options, runtime::FlatForm form);
  void make_general();
  void require_sizes() const;

  const BoundProgram& program() const { return arguments_.program(); }

  KeptArguments arguments_;
  StopFlag stop_ = 0;
  std::optional<runtime::CallersPool> pool_;
  std::optional<runtime::FlatFunction> flat_;
  runtime::Trampoline general_;
  std::string signature_;
};

}  // namespace inlay::python
