#pragma once
// log density and gradient of one flat vector, as samplers call them from C:
//
//   int f(size_t dim, const double *x, double *grad, double *logp, const void *user_data)
//
// 0: both are there. > 0: the sampler may try elsewhere: the result is not finite. < 0: nothing will help. After
// anything but 0, grad and logp hold nothing that means anything. Works whatever user_data is, and on many threads at
// once.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/executable.h"
#include "runtime/trampoline.h"

namespace inlay::runtime {

using FlatLogpFunction = int (*)(std::size_t dim, const double* x, double* grad, double* logp, const void* user_data);
inline constexpr const char* kFlatLogpSignature =
    "int (size_t dim, const double *x, double *grad, double *logp, const void *user_data)";

enum FlatLogpCode : int {
  kFlatOk = 0,
  kFlatGradNotFinite = 3,  // as nutpie numbers them
  kFlatLogpNotFinite = 4,
  kFlatWrongDim = -1,  // `dim` is not the length that the function was made for
  kFlatFailed = -2,    // a failed check: an index out of bounds, an assert
  kFlatOutOfMemory = -3,
};

/// What the function is made of: which parameter is x, where the others lie, which output is which.
struct FlatLogpSpec {
  std::shared_ptr<const Executable> executable;
  std::vector<const void*> params;  // addresses by slot; that of x is ignored. They must outlive the function. Facts of
                                    // bound ones are checked by whoever binds them.
  std::vector<int64_t> symbols;     // all bound, for the shapes of the params; that of the length of x is ignored
  int x_param = 0;
  int x_symbol = -1;  // the symbol that is the length of x: bound by `dim` at the call; -1: none
  int64_t dim = 0;    // length of x where it is no symbol
  int logp_output = 0, grad_output = 1;
};

/// The function, alive as long as this is. It keeps the executable; whoever owns the arrays keeps them.
class FlatLogp {
 public:
  /// Throws Error where the program does not have this form: x and grad f64 vectors, logp a 0-d f64, two outputs, no
  /// host call.
  explicit FlatLogp(FlatLogpSpec spec);

  FlatLogpFunction function() const { return reinterpret_cast<FlatLogpFunction>(trampoline_.address()); }
  void* address() const { return trampoline_.address(); }

 private:
  std::unique_ptr<const FlatLogpSpec> spec_;
  Trampoline trampoline_;
};

}  // namespace inlay::runtime
