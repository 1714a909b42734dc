#pragma once
// The arguments of a library function as one struct, and the loop over the batch.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <limits>

#include "library/layout.h"
#include "library/library.h"
#include "ops/library_op.h"
#include "support/fork_gate.h"

namespace inlay::library {

inline constexpr int32_t kTooLarge = 1, kFailed = 2;  // as kernel::LibraryStatus

/// The arguments of one call.
struct Call {
  const void* const* operands = nullptr;
  const int64_t* operand_strides = nullptr;
  void* const* results = nullptr;
  const int64_t* result_strides = nullptr;
  const int64_t* sizes = nullptr;
  LibraryOptions options = 0;
  std::byte* workspace = nullptr;
  int64_t* failure = nullptr;
  InlayCall* caller = nullptr;
  const int32_t* stop = nullptr;

  bool has(LibraryOption option) const { return inlay::has(options, option); }
  int64_t batch() const { return sizes[0]; }
  int64_t size(std::size_t letter) const { return sizes[letter + 1]; }

  /// Returns the matrix or row of an operand, or of a result, at a point of the batch.
  template <class T>
  View<const T> operand(std::size_t i, int64_t point) const {
    const int64_t* strides = operand_strides + 3 * i;
    return {static_cast<const T*>(operands[i]) + point * strides[0], strides[1], strides[2]};
  }
  template <class T>
  View<T> result(std::size_t i, int64_t point) const {
    const int64_t* strides = result_strides + 3 * i;
    return {static_cast<T*>(results[i]) + point * strides[0], strides[1], strides[2]};
  }
  /// Is operand `i` the same for the whole batch?
  bool is_shared(std::size_t i) const { return operand_strides[3 * i] == 0; }

  /// BLAS and LAPACK have 32-bit sizes.
  bool is_too_large(std::size_t num_letters) const {
    return std::any_of(sizes + 1, sizes + 1 + num_letters, [](int64_t size) { return !fits(size); });
  }
  static bool fits(int64_t number) { return std::abs(number) <= std::numeric_limits<int32_t>::max(); }
  int count(std::size_t letter) const { return static_cast<int>(size(letter)); }

  /// Called between matrices, where no lock is held: must the call end? A fork may happen here.
  bool is_to_end() const {
    ForkGate::let_through();
    if (stop == nullptr || *static_cast<const volatile int32_t*>(stop) == 0) return false;
    const ForkGate::Outside outside;
    return caller->interrupted(caller) != INLAY_OK;
  }

  int32_t fail(int64_t number, int64_t point) const {
    failure[0] = number;
    failure[1] = point;
    return kFailed;
  }
};

/// Parts of the workspace, one after the other.
class Workspace {
 public:
  explicit Workspace(const Call& call) : at_(call.workspace) {}
  template <class T>
  T* take(int64_t count) {
    T* out = reinterpret_cast<T*>(at_);
    at_ += static_cast<std::size_t>(count) * sizeof(T);
    return out;
  }
  /// Takes LAPACK's integers, eight bytes for each, so that what follows stays aligned.
  int* take_integers(int64_t count) { return reinterpret_cast<int*>(take<int64_t>(count)); }

 private:
  std::byte* at_;
};

using Function = int32_t (*)(const Call&);

/// The C entry point of `function`. A fork waits for it: OpenBLAS takes a lock for the memory that a product works in,
/// and in the child nobody would unlock it.
template <Function function>
int32_t entry(const void* const* operands, const int64_t* operand_strides, void* const* results,
              const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace, int64_t* failure,
              InlayCall* caller, const int32_t* stop) {
  const ForkGate::Inside inside;
  return function({operands, operand_strides, results, result_strides, sizes, options,
                   static_cast<std::byte*>(workspace), failure, caller, stop});
}

/// Instantiates the function for each dtype that it computes with.
#define INLAY_OF_FIELDS(function)                              \
  template int32_t function<float>(const Call&);               \
  template int32_t function<double>(const Call&);              \
  template int32_t function<std::complex<float>>(const Call&); \
  template int32_t function<std::complex<double>>(const Call&);

// The functions by family; T is real or complex, for rows real only.
template <class T>
int32_t matmul(const Call& call);
template <class T>
int32_t matmul_by_loops(const Call& call);
int32_t row_dots(const Call& call);
int32_t weighted_rows(const Call& call);
template <class T>
int32_t cholesky(const Call& call);
template <class T>
int32_t solve_triangular(const Call& call);
template <class T>
int32_t solve(const Call& call);
template <class T>
int32_t lu_factor(const Call& call);
template <class T>
int32_t tridiagonal_lu_factor(const Call& call);
template <class T>
int32_t tridiagonal_lu_solve(const Call& call);
template <class T>
int32_t qr(const Call& call);
template <class T>
int32_t qr_complete(const Call& call);
template <class T>
int32_t qr_r(const Call& call);
template <class T>
int32_t qr_pivoted(const Call& call);
template <class T>
int32_t qr_complete_pivoted(const Call& call);
template <class T>
int32_t qr_raw(const Call& call);
template <class T>
int32_t qr_raw_pivoted(const Call& call);
template <class T>
int32_t schur(const Call& call);
template <class T>
int32_t qz(const Call& call);
template <class T>
int32_t sylvester(const Call& call);
template <class T>
int32_t svd(const Call& call);
template <class T>
int32_t svd_full(const Call& call);
template <class T>
int32_t singular_values(const Call& call);
template <class T>
int32_t eigh(const Call& call);
template <class T>
int32_t eigvalsh(const Call& call);
template <class T>
int32_t eig(const Call& call);
template <class T>
int32_t eigvals(const Call& call);
template <class T>
int32_t expm(const Call& call);
int32_t pivots_to_permutation(const Call& call);
template <class T>
int32_t sort(const Call& call);
template <class T>
int32_t argsort(const Call& call);
template <class T>
int32_t searchsorted(const Call& call);

/// Computes any op without BLAS and LAPACK: by plain loops over copies, which allocate memory and cannot be interrupted
/// within a matrix.
int32_t run_by_the_book(LibraryOp op, DType dtype, const Call& call);
template <LibraryOp op, DType dtype>
int32_t by_the_book(const Call& call) {
  return run_by_the_book(op, dtype, call);
}

}  // namespace inlay::library
