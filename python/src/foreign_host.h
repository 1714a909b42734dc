#pragma once
// Host calls, and reports of failures, of a thread that may not know Python: a sampler's, or one of XLA's.
#include <string>

#include "call.h"

namespace inlay::python {

/// Gives the Python error that is set to `on_error`, if there is one (it may be null), and returns its text, as Python
/// ends its traceback with it. What `on_error` raises has nowhere to go.
std::string report(PyObject* on_error);

class ForeignHost final : public runtime::Host {
 public:
  explicit ForeignHost(const BoundProgram& program, PyObject* on_error = nullptr)
      : call_(program, Gil::foreign), on_error_(on_error) {}

  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override;
  std::string why_failed() const override { return why_failed_; }
  void* allocate_output(int, std::span<const int64_t>) override { return nullptr; }  // the caller brings them

 private:
  Call call_;
  PyObject* on_error_;  // may be null
  std::string why_failed_;
};

}  // namespace inlay::python
