#pragma once
// Functions with the signatures that SciPy calls (scipy.LowLevelCallable): of numbers, of a vector, of a filter's
// window.
//
// A capsule carries the address, the signature as its name, and what the address needs as its context, which SciPy
// passes as `user_data`. So no code is made, and the function lives as long as the capsule.
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "foreign_call.h"

namespace inlay::python {

/// Any number of threads may call it.
class LowLevel {
 public:
  enum class Form : uint8_t {
    numbers,   // double (int, double *, void *): of so many numbers, or of one vector
    filter,    // int (double *, npy_intp, double *, void *): of a vector
    filter1d,  // int (double *, npy_intp, double *, npy_intp, void *): of a vector into another
  };

  /// `form`: "integrand" (numbers), "filter" or "filter1d". Throws Error where the function has not the form.
  LowLevel(const HeldProgram& program, const std::vector<PyObject*>& arguments, const std::string& form);

  const char* signature() const;
  /// The text of the last call that failed.
  std::optional<std::string> last_error() const;

  Form form() const { return form_; }

  /// NaN where it failed.
  double of_numbers(int count, const double* x) noexcept;
  /// Returns 0 with a Python error set where it failed, else 1.
  int filter(const double* x, std::ptrdiff_t length, double* y, std::ptrdiff_t result_length) noexcept;

 private:
  std::optional<Error> run(const double* x, int64_t length, double* y, int64_t result_length) const noexcept;
  void keep(const Error& error) noexcept;

  ForeignFunction function_;
  Form form_ = Form::numbers;
  bool takes_vector_ = false;
  mutable std::mutex mutex_;
  std::optional<std::string> last_error_;
};

void bind_low_level(nanobind::module_& module);

}  // namespace inlay::python
