#pragma once
// Functions of one flat vector, as samplers call them from C:
//
//   int logp(size_t dim, const double *x, double *grad, double *logp, const void *user_data)
//   int expand(size_t dim, size_t num_values, const double *x, double *values, const void *user_data)
//
// The first is a log density with its gradient, the second the recorded values of a draw. They return 0 for success, >
// 0 if the sampler may try elsewhere, < 0 for a permanent failure. After anything but 0 the results are unspecified.
// Many threads may call them at once.
//
// The other parameters are fixed when the function is made, or each call reads them from the record at its user_data:
// so data can be exchanged without compiling, and each sampler may have its own.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executable.h"
#include "runtime/pool.h"

namespace inlay::runtime {

using FlatLogpFunction = int (*)(std::size_t dim, const double* x, double* grad, double* logp, const void* user_data);
using FlatExpandFunction = int (*)(std::size_t dim, std::size_t num_values, const double* x, double* values,
                                   const void* user_data);

enum class FlatForm : uint8_t { logp, expand };

const char* flat_signature(FlatForm form);

/// What a flat function returns.
enum : int {
  kFlatOk = 0,
  kFlatNoFactor = 1,       // a matrix has no such factor at this point
  kFlatPassedBy = 2,       // FlatSpec::keeps_going: a failure that was reported
  kFlatGradNotFinite = 3,  // as nutpie numbers them
  kFlatLogpNotFinite = 4,
  kFlatWrongDim = -1,  // a length differs from that at the making of the function, or that which the data implies
  kFlatFailed = -2,    // a failed check: an index out of bounds, an assert, a host call
  kFlatOutOfMemory = -3,
  kFlatInterrupted = -4,  // FlatSpec::stop was set
};

/// Where in the user_data record a parameter is: its address, and its dims as consecutive 64-bit integers.
struct FlatData {
  int param = 0;
  std::size_t address_offset = 0, dims_offset = 0;
};

/// The parts of a flat function. The outputs are the log density and its gradient, or the values.
struct FlatSpec {
  std::shared_ptr<const Executable> executable;
  FlatForm form = FlatForm::logp;
  std::vector<TensorRef> params;  // by slot; those of x and of data are ignored. The memory must outlive the function.
                                  // Whoever binds arrays checks their facts.
  int x_param = 0;
  const StopFlag* stop = &kNeverStop;  // outlives the function
  std::vector<FlatData> data;
  std::function<std::unique_ptr<Host>()> make_host;   // makes one for each call, if the program has host calls
  std::function<void(const Error&)> on_failure = {};  // gets each failure that is not recoverable, on its thread
  // For a caller that does not survive such a failure: only the first is reported; the log density returns
  // kFlatPassedBy for each, and values are NaN with the code kFlatOk.
  bool keeps_going = false;
  std::optional<CallersPool> pool = {};  // whose threads run it; none: the process's
};

/// The function, which lives as long as this does. It keeps the executable; the arrays belong to their owners.
class FlatFunction {
 public:
  /// Throws Error if the program does not have the form.
  explicit FlatFunction(FlatSpec spec);
  ~FlatFunction();
  FlatFunction(FlatFunction&&) noexcept;

  void* address() const;
  FlatLogpFunction logp() const { return reinterpret_cast<FlatLogpFunction>(address()); }
  FlatExpandFunction expand() const { return reinterpret_cast<FlatExpandFunction>(address()); }

  /// Returns the text of the last failure that was not recoverable.
  std::optional<std::string> last_error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace inlay::runtime
