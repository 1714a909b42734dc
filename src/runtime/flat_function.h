#pragma once
// Functions of one flat vector, as samplers call them from C:
//
//   int logp(size_t dim, const double *x, double *grad, double *logp, const void *user_data)
//   int expand(size_t dim, size_t num_values, const double *x, double *values, const void *user_data)
//
// A log density with its gradient, and what else is recorded of a draw. 0: the results are there. > 0: the sampler may
// try elsewhere. < 0: nothing will help. After anything but 0 the results hold nothing that means anything. On many
// threads at once.
//
// The other parameters are fixed when the function is made, or each call finds them in the record behind its
// user_data: so data is exchanged without compiling, and each sampler may have its own.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace inlay::runtime {

using FlatLogpFunction = int (*)(std::size_t dim, const double* x, double* grad, double* logp, const void* user_data);
using FlatExpandFunction = int (*)(std::size_t dim, std::size_t num_values, const double* x, double* values,
                                   const void* user_data);

enum class FlatForm : uint8_t { logp, expand };

const char* flat_signature(FlatForm form);

enum FlatCode : int {
  kFlatOk = 0,
  kFlatNoFactor = 1,       // a matrix has no such factor here
  kFlatPassedBy = 2,       // FlatSpec::keeps_going: a failure that has been told
  kFlatGradNotFinite = 3,  // as nutpie numbers them
  kFlatLogpNotFinite = 4,
  kFlatWrongDim = -1,  // a length is not the one that the function was made for, or that follows from the data
  kFlatFailed = -2,    // a failed check: an index out of bounds, an assert, a host call
  kFlatOutOfMemory = -3,
  kFlatInterrupted = -4,  // FlatSpec::stop was set
};

/// Where in the record of user_data a parameter stands: its address, and its dims as 64-bit numbers in a row.
struct FlatData {
  int param = 0;
  std::size_t address_offset = 0, dims_offset = 0;
};

/// What the function is made of. Outputs: the log density, then its gradient; or the values.
struct FlatSpec {
  std::shared_ptr<const Executable> executable;
  FlatForm form = FlatForm::logp;
  std::vector<TensorRef> params;  // by slot; those of x and of data are ignored. What they point to must outlive the
                                  // function. Facts of bound ones are checked by whoever binds them.
  int x_param = 0;
  const StopFlag* stop = &kNeverStop;  // outlives the function
  std::vector<FlatData> data;
  std::function<std::unique_ptr<Host>()> make_host;   // for each call; where the program has host calls
  std::function<void(const Error&)> on_failure = {};  // told of each failure that is not recoverable, on its thread
  // For a caller that does not survive such a failure: it is told of the first, and of each the log density has the
  // code kFlatPassedBy, and values are NaN with the code kFlatOk.
  bool keeps_going = false;
};

/// The function, alive as long as this is. It keeps the executable; whoever owns the arrays keeps them.
class FlatFunction {
 public:
  /// Throws Error where the program does not have the form.
  explicit FlatFunction(FlatSpec spec);
  ~FlatFunction();
  FlatFunction(FlatFunction&&) noexcept;

  void* address() const;
  FlatLogpFunction logp() const { return reinterpret_cast<FlatLogpFunction>(address()); }
  FlatExpandFunction expand() const { return reinterpret_cast<FlatExpandFunction>(address()); }

  /// The text of the last failure that was not recoverable.
  std::optional<std::string> last_error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace inlay::runtime
